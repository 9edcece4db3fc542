import { fieldsOf } from '../chat/wire.ts';
import { textOf } from '../prompt/read-prompt.ts';

/** What may be done with a job here. */
export type JobAction = 'pause' | 'resume' | 'remove' | 'run';

/** Has the gateway do it. Null: done; else why not, in words for people. Never rejects. */
export async function actOnJob(id: string, action: JobAction): Promise<string | null> {
  try {
    const path = `/api/cron/${encodeURIComponent(id)}/${action}`;
    const response = await fetch(path, { method: 'POST' });
    if (response.ok) return null;
    if (response.status === 401) return 'This browser is not signed in any more.';
    if (response.status !== 400) return 'The gateway could not do it; its log tells why.';
    return textOf(fieldsOf(await response.json()).error);
  } catch {
    return 'The gateway does not answer. It may be starting again.';
  }
}
