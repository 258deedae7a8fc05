CREATE TABLE `account` (
	`id` varchar(36) NOT NULL,
	`account_id` text NOT NULL,
	`provider_id` text NOT NULL,
	`user_id` varchar(36) NOT NULL,
	`access_token` text,
	`refresh_token` text,
	`id_token` text,
	`access_token_expires_at` datetime(3),
	`refresh_token_expires_at` datetime(3),
	`scope` text,
	`password` text,
	`created_at` datetime(3) NOT NULL,
	`updated_at` datetime(3) NOT NULL,
	CONSTRAINT `account_id` PRIMARY KEY(`id`)
);
--> statement-breakpoint
CREATE TABLE `session` (
	`id` varchar(36) NOT NULL,
	`expires_at` datetime(3) NOT NULL,
	`token` varchar(255) NOT NULL,
	`created_at` datetime(3) NOT NULL,
	`updated_at` datetime(3) NOT NULL,
	`ip_address` text,
	`user_agent` text,
	`user_id` varchar(36) NOT NULL,
	CONSTRAINT `session_id` PRIMARY KEY(`id`),
	CONSTRAINT `session_token_unique` UNIQUE(`token`)
);
--> statement-breakpoint
CREATE TABLE `user` (
	`id` varchar(36) NOT NULL,
	`name` varchar(255) NOT NULL,
	`email` varchar(255) NOT NULL,
	`email_verified` boolean NOT NULL DEFAULT false,
	`image` text,
	`role` varchar(10) NOT NULL DEFAULT 'viewer',
	`created_at` datetime(3) NOT NULL,
	`updated_at` datetime(3) NOT NULL,
	CONSTRAINT `user_id` PRIMARY KEY(`id`),
	CONSTRAINT `user_email_unique` UNIQUE(`email`)
);
--> statement-breakpoint
CREATE TABLE `verification` (
	`id` varchar(36) NOT NULL,
	`identifier` varchar(255) NOT NULL,
	`value` text NOT NULL,
	`expires_at` datetime(3) NOT NULL,
	`created_at` datetime(3) NOT NULL,
	`updated_at` datetime(3) NOT NULL,
	CONSTRAINT `verification_id` PRIMARY KEY(`id`)
);
--> statement-breakpoint
CREATE TABLE `fires` (
	`id` bigint AUTO_INCREMENT NOT NULL,
	`schedule_id` int NOT NULL,
	`fire_at` datetime(3) NOT NULL,
	`kind` varchar(10) NOT NULL,
	`reason` varchar(500),
	`run_id` bigint,
	`created_at` datetime(3) NOT NULL,
	CONSTRAINT `fires_id` PRIMARY KEY(`id`),
	CONSTRAINT `fires_one` UNIQUE(`schedule_id`,`fire_at`)
);
--> statement-breakpoint
CREATE TABLE `imports` (
	`id` int AUTO_INCREMENT NOT NULL,
	`spider_id` int NOT NULL,
	`file_name` varchar(255) NOT NULL,
	`state` varchar(10) NOT NULL,
	`rows` bigint NOT NULL DEFAULT 0,
	`accepted` bigint NOT NULL DEFAULT 0,
	`duplicates` bigint NOT NULL DEFAULT 0,
	`rejected` bigint NOT NULL DEFAULT 0,
	`report` longtext,
	`error` text,
	`author` varchar(191),
	`created_at` datetime(3) NOT NULL,
	`finished_at` datetime(3),
	CONSTRAINT `imports_id` PRIMARY KEY(`id`)
);
--> statement-breakpoint
CREATE TABLE `queues` (
	`name` varchar(64) NOT NULL,
	`kind` varchar(10) NOT NULL DEFAULT 'http',
	`delay_ms` int NOT NULL,
	`per_host` int NOT NULL,
	`concurrency` int NOT NULL,
	`max_running` int,
	`paused` boolean NOT NULL DEFAULT false,
	`version` int NOT NULL DEFAULT 1,
	`created_at` datetime(3) NOT NULL,
	`updated_at` datetime(3) NOT NULL,
	CONSTRAINT `queues_name` PRIMARY KEY(`name`)
);
--> statement-breakpoint
CREATE TABLE `runs` (
	`id` bigint AUTO_INCREMENT NOT NULL,
	`spider_id` int NOT NULL,
	`queue` varchar(64) NOT NULL,
	`definition` longtext NOT NULL,
	`state` varchar(12) NOT NULL,
	`trigger` varchar(12) NOT NULL,
	`schedule_id` int,
	`fire_at` datetime(3),
	`open_key` varchar(140),
	`seed_cursor` bigint NOT NULL DEFAULT 0,
	`epoch` int NOT NULL DEFAULT 0,
	`admitted` bigint NOT NULL DEFAULT 0,
	`done` bigint NOT NULL DEFAULT 0,
	`failed` bigint NOT NULL DEFAULT 0,
	`ignored` bigint NOT NULL DEFAULT 0,
	`cancelled` bigint NOT NULL DEFAULT 0,
	`items` bigint NOT NULL DEFAULT 0,
	`error` text,
	`started_by` varchar(191),
	`created_at` datetime(3) NOT NULL,
	`finished_at` datetime(3),
	CONSTRAINT `runs_id` PRIMARY KEY(`id`),
	CONSTRAINT `runs_fire` UNIQUE(`schedule_id`,`fire_at`),
	CONSTRAINT `runs_open` UNIQUE(`open_key`)
);
--> statement-breakpoint
CREATE TABLE `schedules` (
	`id` int AUTO_INCREMENT NOT NULL,
	`spider_id` int NOT NULL,
	`queue` varchar(64) NOT NULL,
	`name` varchar(191) NOT NULL,
	`cron` varchar(120) NOT NULL,
	`zone` varchar(64) NOT NULL,
	`overlap` varchar(10) NOT NULL DEFAULT 'skip',
	`missed` varchar(10) NOT NULL DEFAULT 'once',
	`enabled` boolean NOT NULL DEFAULT true,
	`decided_until` datetime(3) NOT NULL,
	`created_at` datetime(3) NOT NULL,
	`updated_at` datetime(3) NOT NULL,
	CONSTRAINT `schedules_id` PRIMARY KEY(`id`)
);
--> statement-breakpoint
CREATE TABLE `seeds` (
	`id` bigint AUTO_INCREMENT NOT NULL,
	`spider_id` int NOT NULL,
	`run_id` bigint NOT NULL DEFAULT 0,
	`url` text NOT NULL,
	`url_hash` binary(32) NOT NULL,
	`priority` int NOT NULL DEFAULT 0,
	`depth` int NOT NULL DEFAULT 0,
	`meta` text,
	`import_id` int,
	`enabled` boolean NOT NULL DEFAULT true,
	`created_at` datetime(3) NOT NULL,
	CONSTRAINT `seeds_id` PRIMARY KEY(`id`),
	CONSTRAINT `seeds_one` UNIQUE(`spider_id`,`run_id`,`url_hash`)
);
--> statement-breakpoint
CREATE TABLE `spider_versions` (
	`id` int AUTO_INCREMENT NOT NULL,
	`spider_id` int NOT NULL,
	`version` int NOT NULL,
	`definition` longtext NOT NULL,
	`author` varchar(191),
	`created_at` datetime(3) NOT NULL,
	CONSTRAINT `spider_versions_id` PRIMARY KEY(`id`),
	CONSTRAINT `spider_versions_one` UNIQUE(`spider_id`,`version`)
);
--> statement-breakpoint
CREATE TABLE `spiders` (
	`id` int AUTO_INCREMENT NOT NULL,
	`name` varchar(64) NOT NULL,
	`definition` longtext NOT NULL,
	`version` int NOT NULL DEFAULT 1,
	`created_at` datetime(3) NOT NULL,
	`updated_at` datetime(3) NOT NULL,
	CONSTRAINT `spiders_id` PRIMARY KEY(`id`),
	CONSTRAINT `spiders_name_unique` UNIQUE(`name`)
);
--> statement-breakpoint
CREATE TABLE `alerts` (
	`id` int AUTO_INCREMENT NOT NULL,
	`rule` varchar(64) NOT NULL,
	`subject` varchar(191) NOT NULL,
	`message` text NOT NULL,
	`started_at` datetime(3) NOT NULL,
	`ended_at` datetime(3),
	CONSTRAINT `alerts_id` PRIMARY KEY(`id`)
);
--> statement-breakpoint
CREATE TABLE `audit_log` (
	`id` bigint AUTO_INCREMENT NOT NULL,
	`at` datetime(3) NOT NULL,
	`actor` varchar(191) NOT NULL,
	`action` varchar(64) NOT NULL,
	`subject` varchar(191) NOT NULL,
	`detail` longtext,
	CONSTRAINT `audit_log_id` PRIMARY KEY(`id`)
);
--> statement-breakpoint
CREATE TABLE `dispatcher` (
	`id` int NOT NULL,
	`epoch` int NOT NULL,
	`redis_run_id` varchar(64) NOT NULL,
	`redis_repl_id` varchar(64) NOT NULL,
	`changed_at` datetime(3) NOT NULL,
	CONSTRAINT `dispatcher_id` PRIMARY KEY(`id`)
);
--> statement-breakpoint
CREATE TABLE `leases` (
	`name` varchar(64) NOT NULL,
	`holder` varchar(100) NOT NULL,
	`fence` bigint NOT NULL,
	`expires_at` datetime(3) NOT NULL,
	CONSTRAINT `leases_name` PRIMARY KEY(`name`)
);
--> statement-breakpoint
CREATE TABLE `samples` (
	`queue` varchar(64) NOT NULL,
	`at` datetime(3) NOT NULL,
	`inbox` bigint NOT NULL,
	`pending` bigint NOT NULL,
	`running` bigint NOT NULL,
	`retry` bigint NOT NULL,
	`dead` bigint NOT NULL,
	`done_total` bigint NOT NULL,
	`failed_total` bigint NOT NULL,
	`ignored_total` bigint NOT NULL,
	`workers` int NOT NULL,
	`restarts` int NOT NULL,
	CONSTRAINT `samples_queue_at_pk` PRIMARY KEY(`queue`,`at`)
);
--> statement-breakpoint
CREATE TABLE `scale_requests` (
	`id` int AUTO_INCREMENT NOT NULL,
	`queue` varchar(64) NOT NULL,
	`kind` varchar(10) NOT NULL,
	`wanted` int NOT NULL,
	`state` varchar(10) NOT NULL,
	`detail` text,
	`author` varchar(191),
	`created_at` datetime(3) NOT NULL,
	`finished_at` datetime(3),
	CONSTRAINT `scale_requests_id` PRIMARY KEY(`id`)
);
--> statement-breakpoint
CREATE TABLE `worker_events` (
	`id` bigint AUTO_INCREMENT NOT NULL,
	`worker_id` varchar(100) NOT NULL,
	`queue` varchar(64) NOT NULL,
	`kind` varchar(10) NOT NULL,
	`detail` varchar(500),
	`at` datetime(3) NOT NULL,
	CONSTRAINT `worker_events_id` PRIMARY KEY(`id`)
);
--> statement-breakpoint
CREATE TABLE `workers` (
	`id` varchar(100) NOT NULL,
	`kind` varchar(10) NOT NULL,
	`queue` varchar(64) NOT NULL,
	`hostname` varchar(191) NOT NULL,
	`pid` int NOT NULL,
	`state` varchar(10) NOT NULL,
	`running` int NOT NULL DEFAULT 0,
	`done` bigint NOT NULL DEFAULT 0,
	`failed` bigint NOT NULL DEFAULT 0,
	`rss_bytes` bigint NOT NULL DEFAULT 0,
	`started_at` datetime(3) NOT NULL,
	`heartbeat_at` datetime(3) NOT NULL,
	`stopped_at` datetime(3),
	CONSTRAINT `workers_id` PRIMARY KEY(`id`)
);
--> statement-breakpoint
CREATE TABLE `items` (
	`run_id` bigint NOT NULL,
	`url_hash` binary(32) NOT NULL,
	`n` int NOT NULL,
	`name` varchar(64) NOT NULL,
	`data` longtext NOT NULL,
	`created_at` datetime(3) NOT NULL,
	CONSTRAINT `items_run_id_url_hash_n_pk` PRIMARY KEY(`run_id`,`url_hash`,`n`)
);
--> statement-breakpoint
CREATE TABLE `pages` (
	`run_id` bigint NOT NULL,
	`url_hash` binary(32) NOT NULL,
	`url` text NOT NULL,
	`final_url` text,
	`state` varchar(10) NOT NULL,
	`reason` varchar(40),
	`detail` varchar(500),
	`status` smallint,
	`title` text,
	`depth` int NOT NULL,
	`referrer` text,
	`content_type` varchar(255),
	`charset` varchar(40),
	`bytes` bigint,
	`ms` int,
	`attempts` int NOT NULL,
	`deliveries` int NOT NULL,
	`items` int NOT NULL,
	`links` mediumblob,
	`token` varchar(32) NOT NULL,
	`fetched_at` datetime(3) NOT NULL,
	CONSTRAINT `pages_run_id_url_hash_pk` PRIMARY KEY(`run_id`,`url_hash`)
);
--> statement-breakpoint
CREATE INDEX `account_user` ON `account` (`user_id`);--> statement-breakpoint
CREATE INDEX `session_user` ON `session` (`user_id`);--> statement-breakpoint
CREATE INDEX `verification_identifier` ON `verification` (`identifier`);--> statement-breakpoint
CREATE INDEX `fires_kind` ON `fires` (`kind`,`schedule_id`);--> statement-breakpoint
CREATE INDEX `runs_state` ON `runs` (`state`,`id`);--> statement-breakpoint
CREATE INDEX `runs_spider` ON `runs` (`spider_id`,`id`);--> statement-breakpoint
CREATE INDEX `seeds_run` ON `seeds` (`run_id`,`spider_id`,`id`);--> statement-breakpoint
CREATE INDEX `alerts_open` ON `alerts` (`ended_at`,`started_at`);--> statement-breakpoint
CREATE INDEX `audit_log_at` ON `audit_log` (`at`);--> statement-breakpoint
CREATE INDEX `worker_events_at` ON `worker_events` (`at`);--> statement-breakpoint
CREATE INDEX `workers_state` ON `workers` (`state`,`heartbeat_at`);--> statement-breakpoint
CREATE INDEX `pages_state` ON `pages` (`run_id`,`state`,`fetched_at`,`items`);