// What a start does first; checks of a killed restore do that alone.
export { tidyUp } from './backup/work-folder.ts';
export { start } from './commands/start.ts';
export { type DataFolder, locateDataFolder } from './data-folder.ts';
export { type RunningParley, type StartOptions, startParley } from './start-parley.ts';
