CREATE TABLE `visits` (
	`spider_id` int NOT NULL,
	`url_hash` binary(32) NOT NULL,
	`run_id` bigint NOT NULL,
	`content_run` bigint NOT NULL,
	`gone` boolean NOT NULL,
	`title` text,
	`final_url` text NOT NULL,
	`etag` varchar(500),
	`last_modified` varchar(64),
	`trusted` boolean NOT NULL,
	`streak` int NOT NULL,
	`digest` binary(20) NOT NULL,
	`extract` binary(20) NOT NULL,
	`rules` binary(20) NOT NULL,
	`links` mediumblob,
	`interval_seconds` int NOT NULL,
	`due_at` datetime(3) NOT NULL,
	`visited_at` datetime(3) NOT NULL,
	CONSTRAINT `visits_spider_id_url_hash_pk` PRIMARY KEY(`spider_id`,`url_hash`)
);
--> statement-breakpoint
ALTER TABLE `pages` ADD `content_run` bigint;