CREATE TABLE `host_delays` (
	`queue` varchar(64) NOT NULL,
	`host` varchar(300) NOT NULL,
	`delay_ms` int NOT NULL,
	`author` varchar(191) NOT NULL,
	`updated_at` datetime(3) NOT NULL,
	CONSTRAINT `host_delays_queue_host_pk` PRIMARY KEY(`queue`,`host`)
);
--> statement-breakpoint
ALTER TABLE `queues` ADD `draining` boolean DEFAULT false NOT NULL;