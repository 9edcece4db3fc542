import type { PassPoint } from '@parley/contracts';
import { banner } from '../banner.ts';
import type { DataFolder } from '../data-folder.ts';
import { startParley } from '../start-parley.ts';

/** The supervisor's patience (D11): past this the process ends whatever still runs. */
const EXIT_WITHIN_MS = 10_000;
/** A terminal sends Ctrl-C to the launcher and to us, and the launcher passes it on as well. */
const SAME_KEYSTROKE_MS = 1_000;

/** `parley start`: gateway and worker in this process, until a signal ends it. Resolves with the exit code. */
export async function start(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  pass: PassPoint,
): Promise<number> {
  const parley = await startParley({ folder, env, clock: Date.now, pass });
  process.stdout.write(banner(await parley.banner()));
  await signalled();
  const deadline = setTimeout(() => {
    process.stderr.write(
      'Parley could not end everything in time; what was running goes on at the next start.\n',
    );
    process.exit(1);
  }, EXIT_WITHIN_MS);
  await parley.close();
  clearTimeout(deadline);
  process.stdout.write('Parley has stopped; nothing is lost.\n');
  return 0;
}

/** Waits for the first signal that asks to stop; a second one, later, ends the process at once. */
function signalled(): Promise<void> {
  return new Promise((resolve) => {
    let first = 0;
    const onSignal = (): void => {
      const now = Date.now();
      if (first === 0) {
        first = now;
        resolve();
      } else if (now - first > SAME_KEYSTROKE_MS) process.exit(130);
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, onSignal);
  });
}
