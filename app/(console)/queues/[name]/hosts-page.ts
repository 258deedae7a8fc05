/** Hosts on one page of the table; the page is made with as many. */
export const HOSTS_PAGE = 20
