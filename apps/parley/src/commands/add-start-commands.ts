import { type Command, InvalidArgumentError } from 'commander';
import type { DataFolder } from '../data-folder.ts';

type Action = (run: (folder: DataFolder) => Promise<number>) => () => Promise<void>;

interface StartFlags {
  readonly port?: number;
}

const COMMANDS = [
  ['start', 'all', 'start everything in this terminal; Ctrl-C stops it and loses nothing'],
  ['gateway', 'gateway', 'start the channels and the web page alone; needs PostgreSQL and Redis'],
  ['worker', 'worker', 'start what answers alone; any number, on any machine'],
] as const;

/** Adds `parley start`, `parley gateway` and `parley worker` (D09). */
export function addStartCommands(program: Command, action: Action): void {
  for (const [name, role, description] of COMMANDS) {
    program
      .command(name)
      .description(description)
      .option(
        '--port <number>',
        'instead of http.port of the settings; 0 takes any free one',
        portOf,
      )
      .action(({ port }: StartFlags) =>
        action(async (folder) =>
          (await import('./start.ts')).start(folder, process.env, () => {}, { role, port }),
        )(),
      );
  }
}

function portOf(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new InvalidArgumentError('It must be a number from 0 to 65535.');
}
