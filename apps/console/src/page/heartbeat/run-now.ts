import { fieldsOf } from '../chat/wire.ts';
import { textOf } from '../prompt/read-prompt.ts';
import { request } from '../session.ts';

/** What came of a wish to run a task, in words for people. */
export interface Wished {
  readonly words: string;
  readonly began: boolean;
}

/**
 * Has the gateway run a task at once. `id` is the wish’s own: sent twice it runs nothing twice. Never
 * rejects.
 */
export async function runNow(id: string, task: string): Promise<Wished> {
  try {
    const response = await request('/api/heartbeat/now', {
      method: 'POST',
      body: JSON.stringify({ id, task }),
    });
    if (response.status === 401) return failed('This browser is not signed in any more.');
    if (!response.ok) return failed('The gateway could not do it; its log tells why.');
    const answer = fieldsOf(await response.json());
    return { words: textOf(answer.words), began: typeof answer.task === 'string' };
  } catch {
    return failed('The gateway does not answer. It may be starting again.');
  }
}

function failed(words: string): Wished {
  return { words, began: false };
}
