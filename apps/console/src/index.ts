export { createConsole } from './server/page-files.ts';
