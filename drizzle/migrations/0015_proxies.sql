CREATE TABLE `proxies` (
	`id` int AUTO_INCREMENT NOT NULL,
	`queue` varchar(64) NOT NULL,
	`shown` varchar(320) NOT NULL,
	`sealed` text NOT NULL,
	`author` varchar(191) NOT NULL,
	`created_at` datetime(3) NOT NULL,
	CONSTRAINT `proxies_id` PRIMARY KEY(`id`),
	CONSTRAINT `proxies_one` UNIQUE(`queue`,`shown`)
);
--> statement-breakpoint
ALTER TABLE `queues` ADD `proxies` varchar(10) DEFAULT 'turn' NOT NULL;