import { whyAnswerText } from '@parley/channels/timeline-text';
import type { Cli } from '../cli.ts';
import { operate } from '../operate.ts';
import { visible } from '../terminal/text.ts';

/** `parley why MESSAGE` (D08): 1 it is not clear which message is meant, or there is none. */
export function why(cli: Cli, message: string): Promise<number> {
  return operate(
    cli,
    'why/message',
    { message },
    (answer) => visible(whyAnswerText(answer, 'terminal')),
    ({ kind }) => (kind === 'found' ? 0 : 1),
  );
}
