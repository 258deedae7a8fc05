ALTER TABLE `pages` ADD `digest` binary(20);--> statement-breakpoint
ALTER TABLE `pages` ADD `warc_file` varchar(200);--> statement-breakpoint
ALTER TABLE `pages` ADD `warc_offset` bigint;--> statement-breakpoint
ALTER TABLE `pages` ADD `warc_length` bigint;