export { createConsole, openPageFiles } from './server/page-files.ts';
