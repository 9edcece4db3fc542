import { toFileResponse } from '@parley/channels';
import type { Store } from '@parley/store';
import type { Hono } from 'hono';
import { z } from 'zod';
import type { AppEnv } from './access.ts';

const Count = z.coerce.number().int().nonnegative();
const GONE = {
  error: 'This file has been deleted, because files are kept only for a limited time.',
};
const FilePlace = z.object({ message: Count, index: Count });

/**
 * Serves the files that people and the agent sent in a conversation (U08). The files are private,
 * so these routes must be added behind the access check.
 */
export function addConversationFileRoutes(
  app: Hono<AppEnv>,
  { attachments, agentFiles }: Pick<Store, 'attachments' | 'agentFiles'>,
): void {
  app.get('/api/conversations/:id/files/:message/:index', async (c) => {
    c.header('cache-control', 'no-store');
    const { id, ...place } = c.req.param();
    const key = FilePlace.safeParse(place).data;
    const file = key && (await attachments.ofConversation(id, { ...key, messageSeq: key.message }));
    return file ? toFileResponse(file) : c.json(GONE, 404);
  });
  app.get('/api/conversations/:id/sent/:part', async (c) => {
    c.header('cache-control', 'no-store');
    const { id, part } = c.req.param();
    const seq = Count.safeParse(part).data;
    const file = seq === undefined ? null : await agentFiles.sentIn(id, seq);
    return file ? toFileResponse(file) : c.json(GONE, 404);
  });
}
