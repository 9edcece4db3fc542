import { whyAnswerText } from '@parley/channels/timeline-text';
import { WhyAnswer } from '@parley/contracts/timeline';
import { openStore } from '@parley/store';
import { askRunning } from '../ask-gateway.ts';
import type { DataFolder } from '../data-folder.ts';
import { findGateway } from '../find-gateway.ts';
import { readSettings } from '../read-settings.ts';
import { visible } from '../terminal/visible-text.ts';

/** Which message, and whether a program reads the answer. */
export interface WhyFlags {
  readonly message: string;
  readonly json?: boolean | undefined;
}

/**
 * `parley why MESSAGE` (D08): 0 it is told, 1 it is not clear which message is meant, or there is none.
 * It asks the gateway that runs, else it reads the database itself.
 */
export async function whyCommand(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  { message, json }: WhyFlags,
  print: (text: string) => void,
): Promise<number> {
  const answer = await askWhy(folder, env, message);
  if (json) print(JSON.stringify(answer, null, 2));
  else for (const line of whyAnswerText(answer, 'terminal').split('\n')) print(visible(line));
  return answer.kind === 'found' ? 0 : 1;
}

async function askWhy(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  message: string,
): Promise<WhyAnswer> {
  const gateway = await findGateway(folder, env);
  if (gateway !== null) {
    const path = `/api/why?message=${encodeURIComponent(message)}`;
    return askRunning(gateway, { path, answer: WhyAnswer });
  }
  const { settings } = readSettings(folder, env);
  const store = await openStore({ url: settings.store.url ?? folder.storeUrl, clock: Date.now });
  try {
    return await store.why.ask({ message }, Date.now());
  } finally {
    await store.close();
  }
}
