import { type Reader, silentLogger } from '@parley/contracts';
import type { Skills } from '@parley/workspace';
import { commandLine } from '../command-line.ts';
import type { DataFolder } from '../data-folder.ts';
import { openInstalledSkills } from '../open-skills.ts';
import { openTools } from '../open-tools.ts';
import { readSettings } from '../read-settings.ts';
import { visible } from '../terminal/visible-text.ts';
import { skillPage, skillTable } from './skills-text.ts';

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
  print: (text: string) => void,
): Promise<number> {
  const { settings } = readSettings(folder, env);
  const skills: Skills = openInstalledSkills(
    settings,
    { folder, env },
    {
      tools: () => openTools(settings.tools, { skills }, [], silentLogger).for(OWNER).names,
      log: silentLogger,
    },
  );
  const all = await skills.list();
  if (name === undefined) {
    print(skillTable(all, settings.skills));
    return all.some(({ state }) => state === 'refused') ? 1 : 0;
  }
  const wanted = all.filter((one) => one.name.toLowerCase() === name.toLowerCase());
  if (wanted.length === 0) {
    print(`There is no skill "${name}". "${commandLine('skills', folder)}" lists those there are.`);
    return 1;
  }
  for (const one of wanted) print(skillPage(one));
  const used = wanted.find(({ state }) => state === 'ready' || state === 'left-out');
  if (used === undefined) return wanted.some(({ state }) => state === 'refused') ? 1 : 0;
  const text = used.forModel
    ? await skills.read(used.name, OWNER)
    : await skills.called(used.command ?? '', OWNER);
  print(text.kind === 'skill' ? visible(text.text) : `(${text.detail})`);
  return 0;
}
