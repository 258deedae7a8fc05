ALTER TABLE `runs` ADD `own_seeds` boolean DEFAULT false NOT NULL;--> statement-breakpoint
UPDATE `runs` SET `own_seeds` = true WHERE `trigger` = 'inbox' OR EXISTS (SELECT 1 FROM `seeds` WHERE `seeds`.`run_id` = `runs`.`id`);
