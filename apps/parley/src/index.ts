export { formatBanner } from './banner.ts';
export { runStart } from './commands/start.ts';
export { type DataFolder, locateDataFolder } from './data-folder.ts';
export type { StartOptions } from './process-options.ts';
export { type RunningParley, startParley } from './start-parley.ts';
