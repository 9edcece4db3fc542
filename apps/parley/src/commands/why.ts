import { describeWhyAnswer } from '@parley/channels/timeline-text';
import type { CliContext } from '../cli.ts';
import { operateAndPrint } from '../operate.ts';
import { stripControlCharacters } from '../terminal/text.ts';

/**
 * `parley why MESSAGE` (D08): explains what happened to a message. The exit code is 1 unless
 * exactly one message matches.
 */
export function showWhy(cli: CliContext, message: string): Promise<number> {
  return operateAndPrint(
    cli,
    'why/message',
    { message },
    (answer) => stripControlCharacters(describeWhyAnswer(answer, 'terminal')),
    ({ kind }) => (kind === 'found' ? 0 : 1),
  );
}
