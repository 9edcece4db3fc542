import { createInterface } from 'node:readline';
import type { ChangeNotifier } from './changes.ts';

/**
 * Runs a double in a terminal: executes each typed line, prints new messages, and stops on Ctrl-C.
 */
export function runInTerminal(
  double: { readonly transcript: { readonly changes: ChangeNotifier }; close(): Promise<void> },
  run: (line: string) => unknown,
  showNews: () => void,
): void {
  const lines = createInterface({ input: process.stdin });
  lines.on('line', async (line) => {
    try {
      await run(line);
    } catch (error) {
      console.log(error instanceof Error ? error.message : String(error));
    }
  });
  double.transcript.changes.onChange(showNews);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      lines.close();
      void double.close();
    });
  }
}
