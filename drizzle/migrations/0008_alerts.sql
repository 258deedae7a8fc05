DROP TABLE `alerts`;--> statement-breakpoint
CREATE TABLE `alert_channels` (
	`id` int AUTO_INCREMENT NOT NULL,
	`kind` varchar(16) NOT NULL,
	`name` varchar(100) NOT NULL,
	`enabled` boolean NOT NULL DEFAULT true,
	`language` varchar(10) NOT NULL,
	`settings` longtext NOT NULL,
	`secrets` text NOT NULL,
	`created_at` datetime(3) NOT NULL,
	`updated_at` datetime(3) NOT NULL,
	CONSTRAINT `alert_channels_id` PRIMARY KEY(`id`)
);
--> statement-breakpoint
CREATE TABLE `alert_deliveries` (
	`id` bigint AUTO_INCREMENT NOT NULL,
	`delivery_key` varchar(64) NOT NULL,
	`alert_id` int,
	`event` varchar(10) NOT NULL,
	`channel_id` int NOT NULL,
	`state` varchar(10) NOT NULL,
	`message` longtext NOT NULL,
	`attempts` int NOT NULL DEFAULT 0,
	`next_at` datetime(3) NOT NULL,
	`tries` longtext NOT NULL,
	`created_at` datetime(3) NOT NULL,
	`sent_at` datetime(3),
	CONSTRAINT `alert_deliveries_id` PRIMARY KEY(`id`),
	CONSTRAINT `alert_deliveries_key` UNIQUE(`delivery_key`)
);
--> statement-breakpoint
CREATE TABLE `alert_rules` (
	`kind` varchar(32) NOT NULL,
	`enabled` boolean NOT NULL,
	`threshold` double NOT NULL,
	`window_minutes` int NOT NULL,
	`hold_minutes` int NOT NULL,
	`channels` longtext NOT NULL,
	`silent_until` datetime(3),
	`updated_at` datetime(3) NOT NULL,
	CONSTRAINT `alert_rules_kind` PRIMARY KEY(`kind`)
);
--> statement-breakpoint
CREATE TABLE `alerts` (
	`id` int AUTO_INCREMENT NOT NULL,
	`rule` varchar(32) NOT NULL,
	`subject` varchar(191) NOT NULL,
	`open_key` varchar(224),
	`state` varchar(10) NOT NULL,
	`figure` double NOT NULL,
	`threshold` double NOT NULL,
	`window_minutes` int NOT NULL,
	`facts` longtext NOT NULL,
	`started_at` datetime(3) NOT NULL,
	`fired_at` datetime(3),
	`calm_since` datetime(3),
	`ended_at` datetime(3),
	`told` boolean NOT NULL DEFAULT false,
	CONSTRAINT `alerts_id` PRIMARY KEY(`id`),
	CONSTRAINT `alerts_open` UNIQUE(`open_key`)
);
--> statement-breakpoint
CREATE INDEX `alert_deliveries_due` ON `alert_deliveries` (`state`,`next_at`);--> statement-breakpoint
CREATE INDEX `alert_deliveries_channel` ON `alert_deliveries` (`channel_id`,`id`);--> statement-breakpoint
CREATE INDEX `alerts_state` ON `alerts` (`state`,`id`);