CREATE TABLE `scale_limits` (
	`queue` varchar(64) NOT NULL,
	`fewest` int NOT NULL,
	`most` int NOT NULL,
	`per_minute` int,
	`auto` boolean NOT NULL,
	`up_seconds` int NOT NULL,
	`down_seconds` int NOT NULL,
	`updated_at` datetime(3) NOT NULL,
	CONSTRAINT `scale_limits_queue` PRIMARY KEY(`queue`)
);
