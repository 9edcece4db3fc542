export { createConsole } from './server/console-routes.ts';
export { openPageFiles } from './server/page-files.ts';
export { SECURITY_HEADERS } from './server/security-headers.ts';
