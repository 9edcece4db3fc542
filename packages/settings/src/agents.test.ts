// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written like that.

import { mkdirSync, writeFileSync } from 'node:fs';
import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { loadSettings } from './load-settings.ts';
import {
  createSettingsFolder,
  getProblems,
  getValidSettings,
  settingsSchemas,
} from './testing/settings-folder.ts';

const { path } = createSettingsFolder();

beforeAll(() => {
  mkdirSync(path('data/profiles'), { recursive: true });
  const profiles = {
    coder: 'layout: zeus\npersona: wren\ntools: { block: [cron] }\nskills: { show: inline }\n',
    named: 'model: small\n',
    other: 'model: huge\n',
    own: 'model: { provider: anthropic, apiKey: of-the-profile }\n',
    broken: 'layout: 5\n',
    plugged: 'plugins: [./dice]\n',
  };
  for (const [name, yaml] of Object.entries(profiles)) {
    writeFileSync(path(`data/profiles/${name}.yaml`), yaml);
  }
});

function load(yaml: string, env = {}) {
  writeFileSync(path('parley.yaml'), yaml);
  return loadSettings({
    file: path('parley.yaml'),
    env,
    dataFolder: path('data'),
    houseProfiles: path('data/profiles'),
    ...settingsSchemas,
  });
}

/** Loads settings and returns those of the agent `b`. */
function agentB(yaml: string, env = {}) {
  const loaded = getValidSettings(load(yaml, env));
  const b = loaded.agents.get('b');
  if (b === undefined) throw new Error('expected an agent b');
  return { ...loaded, b };
}

const NAMED = 'model: { provider: named, apiKey: key-of-all, model: large, choices: [small] }';

describe('settings for several agents', () => {
  it("[F14] inherit the file's sections, but nothing that defines the default agent itself", () => {
    const { b, settings } = agentB(`
identity: { emoji: X }
agent: { id: a, name: Ada, role: r, emoji: E, timeZone: Europe/Berlin, clockMinutes: 3, workspace: w, layout: lab,
  persona: p, format: f, memory: off, skipContextFiles: true, ephemeral: e, profile: coder, delegates: [b] }
model: { provider: anthropic, apiKey: key-of-all }
tools: { block: [exec], maxSeconds: 5 }
skills: { block: [x], max: 7 }
approvals: { ask: [read] }
heartbeat: { everyMinutes: 45 }
soul: { vetoHours: 3 }
owners: [telegram:1]
plugins: [./mine]
spend: { totalDaily: { usd: 9 }, perStrangerDaily: { usd: 3 }, capOwners: true }
agents: { b: }
`);
    const { agents, routes, plugins, identity, limits, tools, skills, model } = settings;
    expect([tools.block, skills.show]).toEqual([['exec'], 'inline']);
    expect(b).toEqual({
      ...{ ...settings, agents, routes, plugins, identity, limits, model },
      agent: {
        ...{ id: 'b', timeZone: 'Europe/Berlin', clockMinutes: 3, delegates: [] },
        prompt: { dailyNotes: 2 },
        workspace: path('data/workspaces/b'),
      },
      skills: { ...skills, show: 'outline' },
      // The agent has no caps of its own, so only those of the installation apply.
      spend: { perStrangerDaily: 'off', capOwners: true },
    });
  });

  it("[F14] [P15] allow separate profiles: an agent's own keys override its profile, which overrides the file", () => {
    const { b } = agentB(`
owners: [telegram:1]
tools: { block: [exec], maxSeconds: 5 }
skills: { max: 7, show: outline }
agents: { b: { owners: [telegram:2], profile: coder, persona: owl, workspace: ~/b, tools: { maxSeconds: 9 }, skills: { max: 1 } } }
`);
    expect(b.owners).toEqual(['telegram:2']);
    expect(b.agent).toMatchObject({ layout: 'zeus', persona: 'owl' });
    expect(b.agent.workspace).toMatch(/^\/.*\/b$/);
    expect(b.tools).toMatchObject({ block: ['cron'], maxSeconds: 9 });
    expect(b.skills).toMatchObject({ show: 'inline', max: 1 });
  });

  it.each([
    ['none, so that of the file', '', { model: 'large', choices: ['small'] }],
    ['a choice by its name', 'model: small', { model: 'small' }],
    ['a word', 'model: offline', 'offline'],
    ['a block', 'model: { provider: anthropic, apiKey: k }', { provider: 'anthropic' }],
    ['a choice of the profile', 'profile: named', { provider: 'named', model: 'small' }],
    ['the block of the profile', 'profile: own', { apiKey: 'of-the-profile' }],
    ["its own model before the profile's", 'profile: own, model: small', { model: 'small' }],
    [
      'a provider for the model named in the profile',
      'profile: named, model: { provider: named, apiKey: k }',
      { apiKey: 'k', model: 'small' },
    ],
  ])('[F14] [G01] allow separate models: %s', (_what, own, model) => {
    const { b } = agentB(`${NAMED}\nagents: { b: { ${own} } }`);
    if (typeof model === 'string') expect(b.model).toBe(model);
    else expect(b.model).toMatchObject(model);
  });

  it.each([
    ['{}', { perStrangerDaily: 'off', capOwners: false }],
    ['{ totalDaily: { usd: 1 } }', { totalDaily: { usd: 1 }, perStrangerDaily: 'off' }],
    ['{ perPersonDaily: { usd: 1 } }', { perPersonDaily: { usd: 1 } }],
    ['{ perStrangerDaily: { usd: 1 } }', { perStrangerDaily: { usd: 1 } }],
  ])(
    '[F14] [G17] with spend %s contain only these caps, and a cap for strangers only if it is set',
    (spend, bounds) => {
      const { b } = agentB(`agents: { b: { spend: ${spend} } }`);
      expect(b.spend).toMatchObject(bounds);
      expect('perStrangerDaily' in b.spend).toBe('perStrangerDaily' in bounds);
    },
  );

  it("[F14] [G18] keep the agents' secrets, and read references as numbers where numbers are expected", () => {
    const yaml = `agents: { b: { name: "\${NAME}", heartbeat: { everyMinutes: "\${M}" },
      model: { provider: anthropic, apiKey: "\${KEY}" } }, c: { profile: own } }`;
    const { b, secrets } = agentB(yaml, { NAME: 'Ada-of-2026', M: '50', KEY: 'sk-of-agent-b' });
    expect(b.heartbeat.everyMinutes).toBe(50);
    expect(secrets.toSorted()).toEqual(['of-the-profile', 'sk-of-agent-b']);
  });

  it('[F14] do not contain additional agents when the file names none, but contain a complete default agent', () => {
    const loaded = getValidSettings(load('agent: { name: Ada }'));
    expect(loaded.agents.size).toBe(0);
    expect(loaded.settings).toMatchObject({ agent: { delegates: [] }, agents: {}, routes: [] });
  });

  const Key = fc.constantFrom('everyMinutes', 'repeatHours', 'steps');
  const Part = fc.dictionary(Key, fc.integer({ min: 5, max: 50 }));
  it('[F14] take each key from the agent, or else from the file, or else the default', () => {
    const standard: Record<string, unknown> = { everyMinutes: 30, repeatHours: 24, steps: 10 };
    fc.assert(
      fc.property(Part, Part, (all, own) => {
        const yaml = stringify({ heartbeat: all, agents: { b: { heartbeat: own }, c: {} } });
        const { b, agents, settings } = agentB(yaml);
        expect(b.heartbeat).toMatchObject({ ...standard, ...all, ...own });
        expect(settings.heartbeat).toMatchObject({ ...standard, ...all });
        expect(agents.get('c')?.heartbeat).toEqual(settings.heartbeat);
      }),
      toRunOptions(10),
    );
  });
});

describe('conflicting settings for agents', () => {
  it.each([
    ['agents: { Bo b: {} }', 'agents["Bo b"]', 'another key: lower-case letters, digits'],
    ['agents: { main: {} }', 'agents.main', 'another name: "main" is the agent in the'],
    ['agents: [b]', 'agents', 'a block'],
    ['agents: { b: x }', 'agents.b', 'a block'],
    [
      'agents: { b: { timeZone: Europe/Berln } }',
      'agents.b.timeZone',
      'a time zone',
      'Europe/Berlin',
    ],
    ['agents: { b: { heartbeat: { steps: 0 } } }', 'agents.b.heartbeat.steps', 'at least 1'],
    ['agents: { b: { model: { provider: nobody } } }', 'agents.b.model.provider', 'one of'],
    [
      'agents: { b: { model: { provider: anthropic, apikey: k } } }',
      'agents.b.model.apikey',
      'one of',
      'apiKey',
    ],
    [`${NAMED}\nagents: { b: { model: smal } }`, 'agents.b.model', 'model.choices: small', 'small'],
    [`${NAMED}\nagents: { b: { profile: other } }`, 'agents.b.profile', 'model.choices: small'],
    ['agents: { b: { model: small } }', 'agents.b.model', 'model.choices'],
    ['agents: { b: { profile: codr } }', 'agents.b.profile', 'one of broken, coder', 'coder'],
    ['agents: { b: { profile: broken } }', 'layout', 'one of parley, mushroom'],
    ['agents: { b: { name: "${NOT_SET}" } }', 'agents.b.name', 'NOT_SET to be set'],
    ['agents: { b: { owners: [ann] } }', 'agents.b.owners[0]', 'channel:userId'],
    [
      'agents: { b: { workspace: data/workspace } }',
      'agents.b.workspace',
      'shared with the agent "main"',
    ],
    ['agents: { b: { workspace: data } }', 'agents.b.workspace', 'a separate folder'],
    ['agents: { b: { workspace: data/workspace/b } }', 'agents.b.workspace', 'a separate folder'],
    [
      'agents: { b: { workspace: /w }, c: { workspace: /w/ } }',
      'agents.c.workspace',
      'the agent "b"',
    ],
    ['agent: { delegates: [c] }\nagents: { b: }', 'agent.delegates[0]', 'b', 'b'],
    ['agent: { delegates: [b] }', 'agent.delegates[0]', 'there is no other agent'],
    ['agents: { b: { delegates: [b] } }', 'agents.b.delegates[0]', 'main'],
    ['agents: { bob: { delegates: [mian] } }', 'agents.bob.delegates[0]', 'main', 'main'],
    [
      'routes: [{ agent: suport }]\nagents: { support: }',
      'routes[0].agent',
      'one of main',
      'support',
    ],
    [
      `hooks: { ci: { token: ${'ab12'.repeat(8)}, instruction: Look, agent: suport } }\nagents: { support: }`,
      'hooks.ci.agent',
      'one of main',
      'support',
    ],
    ['routes: [{ person: "telegram:1" }]', 'routes[0].agent', 'text'],
    ['routes: [{ agent: main, chat: 5 }]', 'routes[0].chat', 'text'],
    ['routes: [{ agent: main, person: ann }]', 'routes[0].person', 'channel:userId'],
    ['routes: [{ agent: main, account: telegram }]', 'routes[0].account', 'channel/account'],
    ['routes: [{ agent: main, channel: "x:y" }]', 'routes[0].channel', 'a channel, such as'],
    ['routes: [{ agent: main, channel: x, chat: "x:1" }]', 'routes[0]', 'one of person, chat'],
  ])('[F14] [D12] %s', (yaml, at, expected, nearest = undefined) => {
    const [problem, ...more] = getProblems(load(yaml));
    expect(more).toEqual([]);
    expect(problem).toMatchObject({ path: at, expected: expect.stringContaining(expected) });
    if (at !== 'layout') expect(problem?.nearest).toBe(nearest);
    expect(problem?.file).toBe(at === 'layout' ? path('data/profiles/broken.yaml') : undefined);
  });

  it('[F14] [D12] cause an error for a second rule for the same chat, with both lines', () => {
    const rule = '  - { agent: main, chat: "telegram:-1" }\n';
    const other = '  - { agent: main, person: "telegram:-1" }\n';
    const rest = '  - { agent: main }\n';
    expect(getProblems(load(`routes:\n${rule}${other}${rest}${rule}${rest}`))).toMatchObject([
      { path: 'routes[3]', position: { line: 5 }, expected: expect.stringContaining('(line 2)') },
      { path: 'routes[4]', position: { line: 6 }, expected: expect.stringContaining('(line 4)') },
    ]);
  });

  it('[F14] [D12] cause a warning for keys without effect, including those of a profile', () => {
    const { warnings } = agentB(
      'agents: { b: { nam: x, heartbeat: { step: 3 }, profile: plugged } }',
    );
    expect(warnings.map(({ path: at, nearest }) => [at, nearest])).toEqual([
      ['agents.b.heartbeat.step', 'steps'],
      ['agents.b.nam', 'name'],
      ['agents.b.profile', undefined],
    ]);
  });
});
