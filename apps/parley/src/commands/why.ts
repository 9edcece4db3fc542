import { describeWhyAnswer } from '@parley/channels/timeline-text';
import type { CliContext } from '../cli.ts';
import { operateAndPrint } from '../operate.ts';
import { stripControls } from '../terminal/text.ts';

/** `parley why MESSAGE` (D08): exit code 1 if no message matches or more than one does. */
export function showWhy(cli: CliContext, message: string): Promise<number> {
  return operateAndPrint(
    cli,
    'why/message',
    { message },
    (answer) => stripControls(describeWhyAnswer(answer, 'terminal')),
    ({ kind }) => (kind === 'found' ? 0 : 1),
  );
}
