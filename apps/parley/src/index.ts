export { start } from './commands/start.ts';
export { type DataFolder, locateDataFolder } from './data-folder.ts';
export { type RunningParley, type StartOptions, startParley } from './start-parley.ts';
