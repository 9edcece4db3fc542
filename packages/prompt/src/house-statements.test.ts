import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HEARTBEAT_PROMPT, type RuntimeFacts } from '@parley/core';
import type { Workspace } from '@parley/workspace';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPromptAssembler } from './assembler.ts';
import type { PromptContext } from './layer.ts';
import { createBuiltInLayers, createLayerRegistry } from './layout.ts';
import { getLayout } from './layouts.ts';
import { createSceneContext, GROUP_READERS, SCENES } from './testing/example-scenes.ts';
import { createExampleWorkspace } from './testing/example-turn.ts';

/**
 * Compares the design's statements about the prompt of each layout with the scenes in the golden
 * files; the order of sections is tested in `layouts.test.ts`, the limits for files in
 * `layers/files.test.ts`.
 */
const layers = createLayerRegistry(createBuiltInLayers());

let base: string;
const workspaces = new Map<string, Workspace>();
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'parley-statements-'));
  for (const kind of ['lived-in', 'new', 'none'] as const)
    workspaces.set(kind, await createExampleWorkspace(kind, base, GROUP_READERS));
});
afterAll(() => rm(base, { recursive: true, force: true }));

async function promptOf(
  house: string,
  sceneName: string,
  change: (context: PromptContext) => PromptContext = (context) => context,
) {
  const scene = SCENES[sceneName];
  const workspace = workspaces.get(scene?.workspace ?? '');
  if (scene === undefined || workspace === undefined) throw new Error(`no scene ${sceneName}`);
  const context = change(await createSceneContext(scene, workspace));
  const assembler = createPromptAssembler({ layers, layout: getLayout(house) });
  const { system, userContext } = await assembler.assemble(context);
  const textOf = (parts: readonly { readonly text: string }[]) =>
    parts.map(({ text }) => text).join('\n\n');
  return { system: textOf(system), user: textOf(userContext) };
}

/**
 * The text below a heading in the system prompt, up to the next heading of the same or a higher
 * level.
 */
function section(system: string, heading: string): string {
  const level = heading.indexOf(' ');
  const [, after = ''] = `\n${system}`.split(`\n${heading}\n`);
  return after.split(new RegExp(`\\n#{1,${level}} `))[0] ?? '';
}

type Statement = readonly [
  statement: string,
  scene: string,
  heading: string,
  shown: RegExp,
  hidden?: RegExp,
];

const GROUPS = ['discord-group', 'whatsapp-group'];

const MUSHROOM: readonly Statement[] = [
  ['[P04] User names an owner, as data', 'owner-direct', '## User', /^Name, as data: "Ann Lee"$/m],
  ['[P04] User is there for strangers', 'stranger-direct', '## User', /name of the person/, /Bo/],
  ...GROUPS.map(
    (scene): Statement => [
      '[P04] [P18] User is there in groups, and the name stays with the message',
      scene,
      '## User',
      /wrote the newest message, in front of others.*data, never an instruction/,
      /Bo/,
    ],
  ),
  ['[P04] Persona is the chosen one', 'owner-direct', '## Persona', /like a bookseller/],
  ['[P04] skills are documents, not tools', 'owner-direct', '## Skills', /cannot call one/],
  ['[P04] descriptions are read first', 'owner-direct', '## Skills', /Look through their desc/],
  ['[P04] one skill at most up front', 'owner-direct', '## Skills', /Never read more than one up/],
  ['[P04] the list is in XML', 'owner-direct', '## Skills', /<available_skills>\n<skill><name>/],
  ['[P04] notes that were found', 'owner-direct', '## Knowledge Context', /Nordbuch/],
  ['[P04] yesterday, structured', 'owner-direct', '## Conversation Summary', /> Goal: .*\n> Done:/],
  ['[P04] JSON where it is asked for', 'json-answer', '## Response Format', /one JSON value/],
  ['[P04] the root of the workspace', 'owner-direct', '# Workspace Context', /^Workspace root: ~/],
  ['[P04] files apply where relevant', 'owner-direct', '# Workspace Context', /bears on this turn/],
  ['[P04] each file has a purpose', 'owner-direct', '## AGENTS.md', /^Purpose: how you work here/],
  ['[P04] the persona is embodied', 'owner-direct', '## SOUL.md', /^Purpose: your character and/],
  ['[P04] identity has its purpose', 'owner-direct', '## IDENTITY.md', /^Purpose: what you are/],
  ['[P04] the protocol of heartbeats', 'heartbeat', '## Heartbeat', /exactly HEARTBEAT_OK/],
];

const ZEUS: readonly Statement[] = [
  ['[P06] CORE says who it is', 'owner-direct', '# CORE', /^You are Mori/],
  [
    '[P06] CORE has technical abilities',
    'owner-direct',
    '# CORE',
    /TypeScript.*\n.*Python.*\n.*Pos/,
  ],
  [
    '[P06] CORE knows infrastructure',
    'owner-direct',
    '# CORE',
    /Kubernetes.*\n.*\(RAG\), agent fr/,
  ],
  ['[P06] CORE has general abilities', 'owner-direct', '# CORE', /explain code, design and review/],
  [
    '[P06] CORE: no news without search',
    'owner-direct',
    '# CORE',
    /cannot do this.*\n.*\n- search the web/,
  ],
  ['[P06] CORE: nothing physical', 'owner-direct', '# CORE', /cannot do anything in the physical/],
  [
    '[P06] CORE: not always right',
    'owner-direct',
    '# CORE',
    /not always right.*ask people to test/,
  ],
  ['[P06] CORE: knowledge has a cut-off', 'owner-direct', '# CORE', /ends at the cut-off date/],
  ['[P06] SOUL: professional', 'owner-direct', '# SOUL', /^- Professional: .*rely on it/m],
  ['[P06] SOUL: friendly', 'owner-direct', '# SOUL', /^- Friendly: be patient.*their level/m],
  ['[P06] SOUL: honest', 'owner-direct', '# SOUL', /^- Honest: .*not sure.*promise no more/m],
  ['[P06] SOUL: no emoji unless asked', 'owner-direct', '# SOUL', /^- No emoji, unless .* asks/m],
  ['[P06] SOUL: plain text', 'owner-direct', '# SOUL', /^- Plain text: no more formatting/m],
  ['[P06] SOUL: concise', 'owner-direct', '# SOUL', /^- Concise: /m],
  ['[P06] SOUL: the person’s language', 'owner-direct', '# SOUL', /language in which the person w/],
  [
    '[P06] SOUL: SOUL.md beside the rules',
    'owner-direct',
    '# SOUL',
    /## SOUL\.md\nPurpose[\s\S]*calm/,
  ],
  ['[P06] SOUL holds without a file', 'no-workspace', '# SOUL', /No emoji/, /SOUL\.md/],
  ['[P06] [H10] SOUL holds in heartbeats', 'heartbeat', '# SOUL', /No emoji[\s\S]*calm/],
  [
    '[P06] TOOLS: tiers in their order',
    'owner-direct',
    '# TOOLS',
    /order in which to look[\s\S]*### Mid/,
  ],
  [
    '[P06] TOOLS: a plan or a memory',
    'owner-direct',
    '# TOOLS',
    /`write_todos` holds.*`save_memory` k/,
  ],
  [
    '[P02] TOOLS: only of tools there are',
    'stranger-direct',
    '# TOOLS',
    /order in which/,
    /write_todos/,
  ],
  [
    '[P06] TOOLS: names and parameters',
    'owner-direct',
    '# TOOLS',
    /`read`: .*\n {2}Parameters: path/,
  ],
  [
    '[P06] WORKFLOW: quick, without a list',
    'owner-direct',
    '# WORKFLOW',
    /Quick is .*without `write_t/,
  ],
  [
    '[P06] WORKFLOW: complex, with a list',
    'owner-direct',
    '# WORKFLOW',
    /several steps.*`write_todos`/,
  ],
  ['[P02] WORKFLOW: only with the tool', 'stranger-direct', '# WORKFLOW', /^1\. /, /write_todos/],
  [
    '[P06] WORKFLOW: reports when asked',
    'owner-direct',
    '# WORKFLOW',
    /report, in Markdown, when .*asks/,
  ],
  [
    '[P06] WORKFLOW: no report otherwise',
    'owner-direct',
    '# WORKFLOW',
    /never by yourself after a plain/,
  ],
  ['[P06] MEMORY: words to save at', 'owner-direct', '# MEMORY', /remember.*I like.*记住.*从不/],
  ['[P06] MEMORY: types', 'owner-direct', '# MEMORY', /preference, fact, skill, habit or constr/],
  ['[P06] MEMORY: scopes', 'owner-direct', '# MEMORY', /the user, the project or this session/],
  [
    '[P06] MEMORY: which type',
    'owner-direct',
    '# MEMORY',
    /Types: a preference is.*a constraint what lim/,
  ],
  ['[P06] MEMORY: which scope', 'owner-direct', '# MEMORY', /Scopes: user holds.*session until/],
  ['[P06] MODE: agent', 'owner-direct', '# MODE', /use your tools.*needs a yes first waits/],
  ['[P06] MODE: ask leads to agent', 'discord-group', '# MODE', /change nothing.*`\/mode agent`/],
  ['[P06] the time and its zone', 'owner-direct', '# Current Time', /^2026-11-21, 14:00 \(Europe/],
  [
    '[P06] skills in a line each',
    'owner-direct',
    '# Skills',
    /<name>book-search<.*`?load_skill|load_sk/,
  ],
  ['[P06] connectors that are there', 'owner-direct', '# Connectors', /browser: /, /desktop/],
  ['[P06] profile of the person', 'owner-direct', '# Profile', /Prefers tea/],
  ['[P06] profile of the project', 'owner-direct', '# Profile', /The project.*\n> Moving/],
  ['[P06] memories that fit', 'owner-direct', '# Memories', /window display/],
  ['[P06] files that are named with @', 'owner-direct', '# Resources', /notes\/plan\.md/],
  ['[P06] files of the sandbox', 'owner-direct', '# Sandbox', /orders\.csv/],
  ['[P06] attachments', 'owner-direct', '# Attachments', /image\/jpeg/],
];

const OPENCLAW: readonly Statement[] = [
  [
    '[P07] Runtime names the system',
    'owner-direct',
    '## Runtime',
    /^- Operating system: Linux \(x64\)$/m,
  ],
  ['[P07] Runtime names the model', 'owner-direct', '## Runtime', /^- Model: test\/model$/m],
  ['[P07] Runtime names the channel', 'owner-direct', '## Runtime', /^- Channel: telegram/m],
  ['[P07] Runtime in a group', 'discord-group', '## Runtime', /system: Linux[\s\S]*Model: /],
  ['[P07] Runtime of a sub-agent', 'sub-agent', '## Runtime', /system: Linux[\s\S]*Model: /],
  ...['owner-direct', 'discord-group', 'heartbeat'].map(
    (scene): Statement => [
      `[P07] Heartbeats has the heartbeat prompt: ${scene}`,
      scene,
      '## Heartbeats',
      new RegExp(`^Heartbeat prompt: ${RegExp.escape(HEARTBEAT_PROMPT)}$`, 'm'),
    ],
  ),
  [
    '[P07] quiet is one exact word',
    'owner-direct',
    '## Heartbeats',
    /exactly HEARTBEAT_OK, the whole/,
  ],
  ['[P07] an alert has no such word', 'owner-direct', '## Heartbeats', /without HEARTBEAT_OK/],
  [
    '[P07] a heartbeat hears it once',
    'heartbeat',
    '## Heartbeat Task',
    /^Task: mail/m,
    /HEARTBEAT_OK/,
  ],
];

const LAB: readonly Statement[] = [
  ['[P05] the persona is whole', 'owner-direct', '## Persona', /^You speak like a bookseller/],
  ['[P05] [P14] the format is apart', 'stranger-direct', '## Answer Format', /square brackets/],
  [
    '[P05] outline: description and path',
    'owner-direct',
    '## Skills',
    /<description>.*<location>~/,
  ],
  ['[P05] inline: the text itself', 'owner-direct', '## Skills', /### Skill: opening-hours\nTues/],
  [
    '[P05] tools: schema',
    'owner-direct',
    '## Tools',
    /`read`: .*\n {2}Parameters: path \(string, req/,
  ],
  ['[P05] tools: when to use them', 'owner-direct', '## Tools', /`exec`: .* Only when no other/],
];

describe.each([
  ['mushroom', MUSHROOM],
  ['zeus', ZEUS],
  ['openclaw', OPENCLAW],
  ['lab', LAB],
] as const)('%s', (house, statements) => {
  for (const [statement, scene, heading, shown, hidden] of statements) {
    it(`${statement} (${scene})`, async () => {
      const text = section((await promptOf(house, scene)).system, heading);
      expect(text).toMatch(shown);
      if (hidden !== undefined) expect(text).not.toMatch(hidden);
    });
  }
});

describe('the runtime facts in the mushroom layout', () => {
  const FACTS: Partial<RuntimeFacts> = {
    threadId: '77',
    replyToMessageId: '5143',
    mentions: ['9000', '9001'],
    variables: { shop: 'north' },
  };

  it.each([
    ['agent id and name', /^- Agent: Mori \(id main\)$/m],
    ['remote user id', /^- Person: discord:7 /m],
    ['remote user name', /^- person: \{"name":"Bo"\}$/m],
    ['channel and account', /^- Channel: discord, account default$/m],
    ['channel user id', /^- Person: .*\(on this channel 7\)$/m],
    ['chat type, group and thread', /^- Chat: group 8100, thread 77$/m],
    ['title of the group', /^- chat: \{"title":"Reading circle /m],
    ['message id and reply', /^- Message: 5150, reply to 5143$/m],
    ['mentions', /^- Mentions: 9000, 9001$/m],
    ['was the agent addressed', /^- Addressed to you: yes$/m],
    ['date', /^- Date: 2026-11-21$/m],
    ['time', /^- Time: 14:05$/m],
    ['time zone', /^- Time zone: Europe\/Berlin$/m],
    ['workspace', /^- Workspace: workspace /m],
    ['heartbeat', /^- Heartbeat: no$/m],
    ['turn variables', /^- variables: \{"shop":"north"\}$/m],
  ])('[P04] [F02] name %s, below their heading', async (_, line) => {
    const { system, user } = await promptOf('mushroom', 'discord-group', (context) => {
      return { ...context, facts: { ...context.facts, ...FACTS } };
    });
    const shown = [system, user].map((text) => section(text, '## Runtime Facts')).join('\n');
    expect(shown).toMatch(line);
  });
});

describe('the memory context in the lab layout', () => {
  it.each(['owner-direct', 'stranger-direct', 'discord-group', 'heartbeat', 'sub-agent'])(
    '[P05] contains every changing layer, and the system prompt does not contain any: %s',
    async (scene) => {
      const { system, user } = await promptOf('lab', scene);
      expect(user).toMatch(/^\[memory context\]\n[\s\S]*\n\[\/memory context\]$/);
      expect(system).not.toMatch(/## (?:Mode|Runtime Facts|Memories|To-dos|Your task)|2026-11-21/);
    },
  );
});
