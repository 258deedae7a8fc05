ALTER TABLE `scale_requests` ADD `previous` int NOT NULL;--> statement-breakpoint
ALTER TABLE `scale_requests` ADD `reason` varchar(500);--> statement-breakpoint
CREATE INDEX `scale_requests_state` ON `scale_requests` (`state`,`id`);--> statement-breakpoint
CREATE INDEX `scale_requests_queue` ON `scale_requests` (`queue`,`id`);