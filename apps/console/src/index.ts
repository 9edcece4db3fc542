export type { BuiltPage } from './server/build-page.ts';
export { createConsoleRoutes, readBuiltPage } from './server/page-files.ts';
