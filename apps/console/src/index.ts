export type { BuiltPage } from './server/build-page.ts';
export { createConsole, readBuiltPage } from './server/page-files.ts';
