import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Reader } from '@parley/core';
import { openWorkspace, type Workspace } from '@parley/workspace';

/** A workspace that has been lived in: every file Parley knows, some of them private. */
const LIVED_IN: Readonly<Record<string, string>> = {
  'AGENTS.md': `# How you work here

- Answer first, explain if it helps. Most messages want a few sentences.
- Small and reversible: do it and say so. Large or public: ask first.
- In groups you are a guest: be brief, and let the talk belong to the people.`,
  'SOUL.md': `You are calm, curious and on the side of the person in front of you. Kind without flattery, honest also when it is inconvenient, and the same character in every chat.`,
  'USER.md': `---
audience: owner
---
Ann Lee, bookseller in Berlin. Reads English and German. Likes short answers and hates reminders before nine.`,
  'IDENTITY.md': `- **Name:** Mori
- **Role:** looks after Ann’s shop and days
- **Emoji:** 🌱`,
  'TOOLS.md': `---
audience: everyone
---
The till speaks to the server \`shop\`. Ask it before you promise a delivery date.`,
  'MEMORY.md': `- The shop is closed on Mondays.
- Ann’s sister Mia has her birthday on 3 December.`,
  'HEARTBEAT.md': `- mail: every 30 min, 9–21. Look for orders that wait for an answer.`,
  'BOOT.md': `Look whether the till is reachable, and tell Ann only if it is not.`,
  'memory/2026-11-20.md': `- Ordered forty copies of the almanac; they come on the 25th.`,
  'memory/2026-11-21.md': `- Mr Okafor asked for a signed first edition; Ann wants to call him back.`,
};

/** What a first start leaves behind. */
const NEW: Readonly<Record<string, string>> = {
  'AGENTS.md': `# How you work here

This folder is your home. Your owner may rewrite any of it.`,
  'SOUL.md': `You are good company and good help.`,
  'IDENTITY.md': `- **Name:**
- **Role:**`,
  'BOOTSTRAP.md': `Introduce yourself. Ask your owner what you should be called, what they do, and what would help them first. Write what you learn into IDENTITY.md and USER.md, then say that you are ready.`,
  'BOOT.md': `Say hello to nobody; just check that your files can be read.`,
};

/** The memory of a group in the workspace that has been lived in. */
const OF_THE_GROUP = `- The reading circle meets on the last Friday of the month.
- Cy reads only on paper.`;

/** Which workspace a scene has. `none`: a folder without a single file. */
export type ExampleWorkspace = 'lived-in' | 'new' | 'none';

/** Makes one in `base`, with a memory for the conversation of each of `groups`. */
export async function exampleWorkspace(
  kind: ExampleWorkspace,
  base: string,
  groups: readonly Reader[] = [],
): Promise<Workspace> {
  const templates = join(base, 'templates');
  await mkdir(templates, { recursive: true });
  const workspace = await openWorkspace({ folder: join(base, kind), templates });
  const files = { 'lived-in': LIVED_IN, new: NEW, none: {} }[kind];
  const memories =
    kind === 'lived-in'
      ? groups.map((reader) => [workspace.for(reader).groupMemory, OF_THE_GROUP] as const)
      : [];
  for (const [name, text] of [...Object.entries(files), ...memories]) {
    const path = join(workspace.folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `${text}\n`);
  }
  return workspace;
}
