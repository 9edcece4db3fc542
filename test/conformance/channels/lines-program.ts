import { locateDataFolder, runStart } from '@parley/cli';
import { lines } from '../../../examples/channel-lines/src/index.ts';

/** Runs Parley with an additional channel: `lines-program.ts <data folder>`. */
const folder = locateDataFolder(process.argv[2], process.env);
await runStart(folder, process.env, () => {}, { channels: [lines] });
