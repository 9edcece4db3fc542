import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InboundMessage, Reader } from '@parley/core';
import { EXAMPLE_FACTS, EXAMPLE_MESSAGE } from '@parley/core/testing';
import type { SourceTurn } from '@parley/prompt';
import { openWorkspace, type Workspace } from '@parley/workspace';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bootSource, createBootstrapSource } from './boot-sources.ts';

const TEMPLATES = join(import.meta.dirname, '../../../../config/workspace');
const OWNER: Reader = { kind: 'owner', conversationId: 'web:default:owner' };
const GUEST: Reader = { kind: 'guest', conversationId: 'telegram:default:-1' };

let folder: string;
let workspace: Workspace;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-boot-'));
  workspace = await openWorkspace({ folder: join(folder, 'w'), templates: TEMPLATES });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

interface Change {
  readonly reader?: Reader;
  readonly session?: number;
  readonly heartbeat?: boolean;
  readonly trigger?: 'boot';
  readonly fixed?: false;
}

function turn(messageId: string, change: Change = {}): SourceTurn {
  const { reader = OWNER, session = 0, heartbeat = false, trigger, fixed } = change;
  const message: InboundMessage = {
    ...EXAMPLE_MESSAGE,
    messageId,
    ...(trigger && { trigger }),
  };
  const facts = { ...EXAMPLE_FACTS, messageId, workspace: workspace.folder, heartbeat };
  return {
    facts,
    reader,
    view: workspace.for(reader),
    messages: [message],
    conversationId: reader.conversationId,
    session,
    ...(fixed !== false && { fix: async (_key, value) => value }),
  };
}

const leads = async (messageId: string, change?: Change): Promise<boolean> =>
  (await createBootstrapSource(workspace).gather(turn(messageId, change))).bootstrap === true;

describe('the first conversation', () => {
  it('[W08] follows BOOTSTRAP.md for at most twenty turns', async () => {
    for (let turns = 1; turns <= 20; turns += 1) expect(await leads(`m${turns}`)).toBe(true);
    expect(await leads('m20')).toBe(true);
    expect(await leads('m21')).toBe(false);
    expect(await leads('m20')).toBe(false);
    expect(await readdir(join(folder, 'w', 'archive'))).toEqual(['BOOTSTRAP.md']);
  });

  it.each<[string, Change]>([
    ['a guest', { reader: GUEST }],
    ['a heartbeat', { heartbeat: true }],
    ['a start', { trigger: 'boot' }],
  ])('[W08] does not follow BOOTSTRAP.md in %s', async (_, change) => {
    expect(await leads('m1', change)).toBe(false);
    expect(await workspace.bootstrap.mark()).toEqual({ state: 'new' });
  });

  it('[W08] happens in one chat and leaves the owner’s other chats unaffected', async () => {
    expect(await leads('m1')).toBe(true);
    const other: Reader = { kind: 'owner', conversationId: 'telegram:default:42' };
    expect(await leads('m1', { reader: other, session: 5 })).toBe(false);
    expect(await leads('m2')).toBe(true);
  });

  it('[P17] appears in a previewed prompt, and the preview does not start it', async () => {
    expect(await leads('m1', { fixed: false })).toBe(true);
    expect(await workspace.bootstrap.mark()).toEqual({ state: 'new' });
  });
});

describe('a turn that carries out BOOT.md', () => {
  it.each<[string, Change, object]>([
    ['the owner’s', { trigger: 'boot' }, { boot: true }],
    ['a plain one', {}, {}],
    ['one for a guest', { trigger: 'boot', reader: GUEST }, {}],
  ])('[W08] marks only the owner’s boot turn: %s', async (_, change, said) => {
    expect(await bootSource.gather(turn('m1', change))).toEqual(said);
  });
});
