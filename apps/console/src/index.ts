export { createConsole } from './server/console-routes.ts';
export { SECURITY_HEADERS } from './server/security-headers.ts';
export { isOpenFile, signInPage } from './server/sign-in-page.ts';
