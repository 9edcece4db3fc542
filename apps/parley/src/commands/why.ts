import { whyAnswerText } from '@parley/channels/timeline-text';
import type { Cli } from '../cli.ts';
import { operate } from '../operate.ts';
import { visible } from '../terminal/text.ts';

/** `parley why MESSAGE` (D08): exit code 1 if no message matches or more than one does. */
export function why(cli: Cli, message: string): Promise<number> {
  return operate(
    cli,
    'why/message',
    { message },
    (answer) => visible(whyAnswerText(answer, 'terminal')),
    ({ kind }) => (kind === 'found' ? 0 : 1),
  );
}
