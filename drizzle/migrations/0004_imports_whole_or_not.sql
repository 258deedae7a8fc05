ALTER TABLE `imports` ADD `open_for` int;--> statement-breakpoint
ALTER TABLE `imports` ADD `alive_at` datetime(3);--> statement-breakpoint
ALTER TABLE `imports` ADD CONSTRAINT `imports_open_for_unique` UNIQUE(`open_for`);--> statement-breakpoint
CREATE INDEX `seeds_import` ON `seeds` (`import_id`);--> statement-breakpoint
DELETE FROM `seeds` WHERE `import_id` IN (SELECT `id` FROM `imports` WHERE `state` <> 'finished');--> statement-breakpoint
UPDATE `imports` SET `state` = 'failed', `error` = 'The process that read the file ended before it was done; import the file again.', `finished_at` = UTC_TIMESTAMP(3) WHERE `state` = 'running';
