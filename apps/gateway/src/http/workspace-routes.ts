import type { Context, Hono } from 'hono';
import { z } from 'zod';
import type { AppEnv } from './access.ts';
import type { Own } from './agent-routes.ts';
import { bodyOf, orRefused, senderOf, uncachedRoutes } from './api-routes.ts';
import type {
  FileList,
  FileSaved,
  OpenFile,
  ShownFileVersion,
  ShownSkill,
} from './workspace-api.ts';

/** `text` null removes the file; `base` is the print that it was made from, null for a new one. */
const FileOrder = z.strictObject({
  base: z.string().max(100).nullable(),
  text: z.string().max(1_000_000).nullable(),
});
export type FileOrder = z.infer<typeof FileOrder>;

/** The files of the workspace as their owner edits them (U03). Each throws ParleyError with what to do. */
export interface FilesPage {
  list(): Promise<FileList>;
  open(name: string): Promise<OpenFile>;
  /** `by`: who does it, for the history. */
  save(name: string, order: FileOrder, by: string): Promise<FileSaved>;
  version(name: string, version: string): Promise<ShownFileVersion>;
  restore(name: string, version: string, by: string): Promise<FileSaved>;
}

export interface SkillsPage {
  list(): Promise<{ readonly skills: readonly ShownSkill[] }>;
  /** Its whole text, also of one that is not used. */
  text(name: string): Promise<{ readonly text: string }>;
  /** Writes the settings, which count from the next session on. */
  turn(name: string, isOn: boolean): Promise<{ readonly text: string }>;
}

/** What of the workspace the page shows; opened when it is asked for. */
export interface WorkspacePage {
  readonly files: FilesPage;
  readonly skills: SkillsPage;
}

/**
 * Files and skills of the agent, below `/api/workspace` (U03). They hold what the owner alone may see,
 * and what the agent follows: guard it.
 */
export function workspaceRoutes(of: Own<() => Promise<WorkspacePage>>): Hono<AppEnv> {
  const app = uncachedRoutes<AppEnv>();
  const open = (c: Context<AppEnv>) => of(c)();
  addFileRoutes(app, async (c) => (await open(c)).files);
  const nothing = { error: 'There is nothing like that to do.' };
  app.get('/skills', async (c) => orRefused(c, (await open(c)).skills.list()));
  app.get('/skills/:name', async (c) =>
    orRefused(c, (await open(c)).skills.text(c.req.param('name'))),
  );
  app.post('/skills/:name', async (c) => {
    const order = await bodyOf(c, z.strictObject({ isOn: z.boolean() }));
    if (order === undefined) return c.json(nothing, 400);
    return orRefused(c, (await open(c)).skills.turn(c.req.param('name'), order.isOn));
  });
  return app;
}

/** A name is one part of the address, with its slashes encoded. */
function addFileRoutes(app: Hono<AppEnv>, open: Own<Promise<FilesPage>>): void {
  const nameOf = (c: Context<AppEnv>) => c.req.param('name') ?? '';
  app.get('/files', async (c) => orRefused(c, (await open(c)).list()));
  app.get('/files/:name', async (c) => orRefused(c, (await open(c)).open(nameOf(c))));
  app.post('/files/:name', async (c) => {
    const order = await bodyOf(c, FileOrder);
    if (order === undefined) return c.json({ error: 'This is no change of a file.' }, 400);
    return orRefused(c, (await open(c)).save(nameOf(c), order, senderOf(c)));
  });
  app.get('/files/:name/versions/:version', async (c) =>
    orRefused(c, (await open(c)).version(nameOf(c), c.req.param('version'))),
  );
  app.post('/files/:name/versions/:version/restore', async (c) =>
    orRefused(c, (await open(c)).restore(nameOf(c), c.req.param('version'), senderOf(c))),
  );
}
