import { getConversationAgent } from '@parley/core';
import type { Store } from '@parley/store';
import { z } from 'zod';

export type RecordFacts = Awaited<ReturnType<typeof collectRecordFacts>>;

const WRITES = ['write', 'edit'] as const;
const RECENT_MS = 30 * 24 * 60 * 60_000;

/** `store` is null if there is no database. `agent` is undefined for the default agent. */
export async function collectRecordFacts(
  store: Pick<Store, 'audit' | 'signIns'> | null,
  isPromptFile: (path: string, agent: string | undefined) => boolean,
  now: number,
) {
  const [allowedPeople, linked, signIns, writes] = await Promise.all([
    store?.audit.allowedPeople() ?? [],
    store?.audit.linked() ?? [],
    store?.signIns.list() ?? [],
    store?.audit.writes(WRITES, now - RECENT_MS) ?? [],
  ]);
  /** Changes that agents made to prompt files, newest first. */
  const promptWrites = writes.flatMap(({ input, ...write }) => {
    const path = parsePath(input);
    const writer = getConversationAgent(write.conversationId);
    return path !== null && isPromptFile(path, writer) ? [{ ...write, path, writer }] : [];
  });
  return { allowedPeople, linked, signIns, promptWrites };
}

const Input = z.object({ path: z.string() });

/**
 * Returns the path that a recorded file tool call names, relative to the workspace; null if the
 * call does not name a path.
 */
export function findCallPath(input: string, workspace: string): string | null {
  const path = parsePath(input);
  if (path?.startsWith(`${workspace}/`)) return path.slice(workspace.length + 1);
  return path?.replace(/^(\.\/)+/, '') ?? null;
}

function parsePath(input: string): string | null {
  try {
    return Input.safeParse(JSON.parse(input)).data?.path ?? null;
  } catch {
    return null; // The model wrote invalid JSON, so the call was never run.
  }
}
