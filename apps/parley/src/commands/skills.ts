import { type Reader, silentLogger } from '@parley/contracts';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import type { SkillStatus, Skills } from '@parley/workspace';
import { commandLine } from '../command-line.ts';
import type { DataFolder } from '../data-folder.ts';
import { endSoon } from '../end-soon.ts';
import { openInstalledSkills } from '../open-skills.ts';
import { openTools } from '../open-tools.ts';
import { plugIn } from '../plug-in.ts';
import { readSettings } from '../read-settings.ts';
import { visible } from '../terminal/visible-text.ts';
import { type SkillLimits, skillPage, skillTable } from './skills-text.ts';

/** Whoever can read the data folder sees what its owner sees. */
const OWNER: Reader = { kind: 'owner', conversationId: 'terminal' };

/**
 * `parley skills [show NAME]`: each skill with its source, its state and why (S09). 0: fine, 1: one is
 * refused, or there is none of that name. It reads the disk, so it does not matter whether a gateway runs.
 */
export async function skillsCommand(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  name: string | undefined,
  print: Print,
): Promise<number> {
  const first = readSettings(folder, env);
  const deps = { folder, env, channels: CHANNEL_DEFINITIONS, log: silentLogger, clock: Date.now };
  const { loaded, agent } = await plugIn(first, deps);
  const { settings } = loaded;
  const known = openTools(settings.tools, {}, { added: agent.tools, log: silentLogger });
  const skills = openInstalledSkills(settings, deps, {
    tools: () => [...known.for(OWNER).names, 'load_skill'],
    added: agent.skills,
    log: silentLogger,
  });
  const all = await skills.list();
  const code =
    name === undefined
      ? table(all, settings.skills, print)
      : await show(skills, all, { name, folder }, print);
  endSoon();
  return code;
}

type Print = (text: string) => void;

function table(all: readonly SkillStatus[], limits: SkillLimits, print: Print): number {
  print(skillTable(all, limits));
  return all.some(({ state }) => state === 'refused') ? 1 : 0;
}

async function show(
  skills: Skills,
  all: readonly SkillStatus[],
  { name, folder }: { readonly name: string; readonly folder: DataFolder },
  print: Print,
): Promise<number> {
  const named = all.filter((one) => one.name.toLowerCase() === name.toLowerCase());
  if (named.length === 0) {
    print(`There is no skill "${name}". "${commandLine('skills', folder)}" lists those there are.`);
    return 1;
  }
  for (const one of named) print(skillPage(one));
  const used = named.find(({ state }) => state === 'ready' || state === 'left-out');
  if (used === undefined) return named.some(({ state }) => state === 'refused') ? 1 : 0;
  const text = used.forModel
    ? await skills.read(used.name, OWNER)
    : await skills.called(used.command ?? '', OWNER);
  print(text.kind === 'skill' ? visible(text.text) : `(${text.detail})`);
  return 0;
}
