import type { SkillsPage } from '@parley/gateway';
import type { SettingsChange } from '@parley/settings/edit';
import type { Skills } from '@parley/workspace';
import { z } from 'zod';
import { changeSettings, type SettingsFileDeps, writtenOf } from './channels.ts';
import { CliError } from './data-folder.ts';
import type { LoadedSettings } from './settings.ts';

interface SkillsPageDeps extends SettingsFileDeps {
  readonly skills: Pick<Skills, 'list' | 'show'>;
  readonly settings: Pick<LoadedSettings['settings'], 'skills'>;
  /** Of the agent; undefined: the default one, whose lists are those of the installation (F14). */
  readonly name: string | undefined;
}

/** The skills for the page (S09): `skills.allow` and `skills.block` of the settings, or of its own, decide which are used. */
export function skillsPage(deps: SkillsPageDeps): SkillsPage {
  const { skills } = deps;
  return {
    async list() {
      const all = await skills.list();
      return {
        skills: all.map(({ audience, ...one }) => ({
          ...one,
          readers: audience.kind === 'owner' ? 'owner' : 'everyone',
          file: one.source === 'workspace' ? fileOf(one.location) : null,
          isOn:
            one.state === 'shadowed' || one.state === 'refused'
              ? null
              : one.state !== 'blocked' && one.state !== 'not-allowed',
        })),
      };
    },
    async text(name) {
      const text = await skills.show(name);
      if (text?.kind === 'skill') return { text: text.text };
      throw new CliError('no-skill', text?.detail ?? `There is no skill ${name} that can be read.`);
    },
    async turn(name, isOn) {
      const known = (await skills.list()).find((one) => one.name === name);
      if (known === undefined) throw new CliError('no-skill', `There is no skill ${name}.`);
      changeSettings(deps, changesFor(name, isOn, deps), 'The settings stay as they are');
      return { text: `${name} is ${isOn ? 'on' : 'off'}: it counts from the next message on.` };
    },
  };
}

/** Of `~/…/skills/tea/SKILL.md` what the workspace calls it. */
function fileOf(location: string): string | null {
  return /(?:^|\/)(skills\/[^/]+\/(?:[^/]+\/)*SKILL\.md)$/.exec(location)?.[1] ?? null;
}

/** A list that comes from elsewhere, as a profile, is written whole: the agent's own list takes its place. */
function changesFor(
  name: string,
  isOn: boolean,
  { settings: { skills }, folder, name: agent }: SkillsPageDeps,
): readonly SettingsChange[] {
  const { path: at, values } = writtenOf(folder, agent);
  const written = Lists.safeParse(values).data?.skills ?? {};
  const isSame = (one: string) => one.toLowerCase() === name.toLowerCase();
  const change = (list: 'allow' | 'block', isIn: boolean): SettingsChange[] => {
    const own = written[list];
    const names = own ?? skills[list] ?? [];
    const path = [...at, 'skills', list];
    const found = names.filter(isSame);
    if (isIn === found.length > 0) return [];
    if (own === undefined) {
      const value = isIn ? [...names, name] : names.filter((one) => !isSame(one));
      return [{ kind: 'set', path, value }];
    }
    if (isIn) return [{ kind: 'add', path, value: name }];
    return found.map((value) => ({ kind: 'take', path, value }));
  };
  if (!isOn) return change('block', true);
  const isLimited = (written.allow ?? skills.allow) !== undefined;
  return [...change('block', false), ...(isLimited ? change('allow', true) : [])];
}

/** The lists as they are written in the file. */
const Lists = z.object({
  skills: z.object({
    allow: z.array(z.string()).optional(),
    block: z.array(z.string()).optional(),
  }),
});
