CREATE TABLE `api_key` (
	`id` varchar(12) NOT NULL,
	`secret_hash` binary(32) NOT NULL,
	`name` varchar(100) NOT NULL,
	`role` varchar(10) NOT NULL,
	`author` varchar(191) NOT NULL,
	`created_at` datetime(3) NOT NULL,
	`expires_at` datetime(3),
	`revoked_at` datetime(3),
	`last_used_at` datetime(3),
	CONSTRAINT `api_key_id` PRIMARY KEY(`id`)
);
--> statement-breakpoint
CREATE INDEX `api_key_created` ON `api_key` (`created_at`);--> statement-breakpoint
CREATE INDEX `audit_log_actor` ON `audit_log` (`actor`,`at`);--> statement-breakpoint
CREATE INDEX `audit_log_action` ON `audit_log` (`action`,`at`);--> statement-breakpoint
CREATE INDEX `audit_log_subject` ON `audit_log` (`subject`,`at`);