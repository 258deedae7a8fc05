/** Schedules on one page of the list; the page is made with as many. */
export const SCHEDULES_PAGE = 50
