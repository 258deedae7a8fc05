CREATE TABLE `spider_credentials` (
	`id` int AUTO_INCREMENT NOT NULL,
	`spider_id` int NOT NULL,
	`origin` varchar(300) NOT NULL,
	`kind` varchar(10) NOT NULL,
	`shown` varchar(500) NOT NULL,
	`sealed` text NOT NULL,
	`author` varchar(191) NOT NULL,
	`updated_at` datetime(3) NOT NULL,
	CONSTRAINT `spider_credentials_id` PRIMARY KEY(`id`),
	CONSTRAINT `spider_credentials_one` UNIQUE(`spider_id`,`origin`)
);
