import { BUILT_IN_TOOLS, type BuiltInToolDeps, createBuiltInTools } from '@parley/agent';
import { OPEN_TOOLS } from '@parley/prompt';
import { describe, expect, it } from 'vitest';
import type { LoadedSettings } from './settings.ts';
import { findUnknownTools } from './tool-names.ts';

/** Returns settings that contain only the given sections. */
const settings = (of: object): Pick<LoadedSettings, 'settings'> => ({
  settings: { mcp: {}, agents: {}, ...of } as unknown as LoadedSettings['settings'],
});

describe('tools named in the settings', () => {
  it('are recognized even if the installation has not enabled them', () => {
    // The tools are created but not run, so their dependencies can be empty.
    const web = { fetch: { enabled: true, ports: [443] }, search: { searxng: { baseUrl: 'x' } } };
    const deps = {
      ...{
        skills: {},
        memory: {},
        todos: {},
        delegation: { others: [] },
        cron: {},
        messages: { chats: {} },
      },
      ...{ documents: {}, sendFile: {}, speak: {}, ownMessages: {}, soul: {}, web },
      exec: { workspace: { folder: '' }, promptFiles: { patterns: [] }, forbidden: [] },
    } as unknown as BuiltInToolDeps;
    const names = [...createBuiltInTools(deps).map(({ name }) => name), OPEN_TOOLS];
    expect([...BUILT_IN_TOOLS].sort()).toEqual([...new Set(names)].sort());
  });

  it('are reported if no tool has that name, with the most similar name', () => {
    const of = settings({
      tools: { block: ['exec', 'web-fetch', 'github_search', 'ours'] },
      approvals: { ask: [], auto: ['exce:git *', 'write'] },
      mcp: { github: {} },
      agents: { helper: { tools: { allow: ['reed'] } } },
    });
    expect(findUnknownTools(of, ['ours']).map(({ path, nearest }) => [path, nearest])).toEqual([
      ['tools.block[1]', 'web_fetch'],
      ['approvals.auto[0]', 'exec'],
      ['agents.helper.tools.allow[0]', 'read'],
    ]);
  });
});
