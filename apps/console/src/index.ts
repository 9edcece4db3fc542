export { createConsole } from './server/console-routes.ts';
export { SECURITY_HEADERS } from './server/security-headers.ts';
