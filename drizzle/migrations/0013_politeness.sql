ALTER TABLE `queues` ADD `adaptive` boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE `queues` ADD `quiet` longtext;