CREATE TABLE `sink_outbox` (
	`id` bigint AUTO_INCREMENT NOT NULL,
	`sink` varchar(64) NOT NULL,
	`run_id` bigint NOT NULL,
	`url_hash` binary(32) NOT NULL,
	`state` varchar(10) NOT NULL DEFAULT 'waiting',
	`detail` varchar(500),
	`tries` int NOT NULL DEFAULT 0,
	`version` int NOT NULL DEFAULT 0,
	`created_at` datetime(3) NOT NULL,
	CONSTRAINT `sink_outbox_id` PRIMARY KEY(`id`),
	CONSTRAINT `sink_outbox_page` UNIQUE(`sink`,`run_id`,`url_hash`)
);
--> statement-breakpoint
ALTER TABLE `queues` ADD `held_by` varchar(64);--> statement-breakpoint
CREATE INDEX `sink_outbox_next` ON `sink_outbox` (`sink`,`state`,`id`);