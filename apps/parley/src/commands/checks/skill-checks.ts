import { COMMANDS, describeOmittedCommands, fitMenu } from '@parley/channels';
import { pluralize, type Reader, silentLogger } from '@parley/core';
import { findNearestWord } from '@parley/settings';
import type { SkillStatus } from '@parley/workspace';
import { createSkillCommands, openInstalledSkills } from '../../agent-sources.ts';
import { formatCommandLine } from '../../data-folder.ts';
import { openTools } from '../../open-agent.ts';
import type { LoadedSettings } from '../../settings.ts';
import { type CheckFinding, defineDoctorCheck, ok, skipped, warning } from './check.ts';
import type { FactsFor } from './facts.ts';

const OWNER: Reader = { kind: 'owner', conversationId: 'terminal' };

export const SKILL_CHECK = defineDoctorCheck(['settings', 'config'], {
  id: 'skills',
  title: 'Every skill is usable, appears in the menus, and is named correctly in the settings.',
  agents: 'each',
  async run(facts) {
    const { settings, agent, folder, env } = facts;
    const known = openTools(settings.tools, {}, { added: [], log: silentLogger });
    const tools = () => [...known.for(OWNER).names, 'load_skill'];
    const from = { tools, added: [], log: silentLogger };
    const skills = openInstalledSkills(settings, { folder, env }, from);
    const all = await skills.list();
    if (all.length === 0) return [skipped('there are none')];
    const show = `"${formatCommandLine('skills', folder)}" lists them.`;
    const found = [
      ...all.flatMap((one) => toSkillFindings(one, show)),
      // Plugin skills are not loaded here, so the names cannot be checked if there are plugins.
      ...(settings.plugins.length > 0 ? [] : findUnknownSkillNames(settings.skills, all)),
      // Account menus list only the default agent's skills.
      ...(agent === undefined ? await checkMenus(facts, createSkillCommands(skills)) : []),
    ];
    if (found.length > 0) return found;
    const ready = all.filter(({ state }) => state === 'ready').length;
    return [ok(`${ready} of ${pluralize(all.length, 'skill')} ready`)];
  },
});

function toSkillFindings(skill: SkillStatus, show: string): readonly CheckFinding[] {
  const { name, state, reason, warnings, location } = skill;
  if (state === 'refused') return [warning(`${name} cannot be used: ${reason}`, show)];
  const advice = `If the guess is wrong, correct the front matter of ${location}.`;
  return warnings.length === 0
    ? []
    : [warning(`${name} was interpreted with guesses: ${warnings.join('; ')}`, advice)];
}

/** Finds names in the settings that do not match a skill. */
function findUnknownSkillNames(
  { allow = [], block, entries }: LoadedSettings['settings']['skills'],
  all: readonly SkillStatus[],
): readonly CheckFinding[] {
  const names = all.map(({ name }) => name);
  const folded = new Set(names.map((one) => one.toLowerCase()));
  const lists = { allow, block, entries: Object.keys(entries) };
  return Object.entries(lists).flatMap(([list, written]) =>
    written
      .filter((one) => !folded.has(one.toLowerCase()))
      .map((one) => {
        const meant = findNearestWord(one, names);
        const hint =
          meant === undefined ? 'Correct the name or remove it.' : `Did you mean ${meant}?`;
        return warning(`skills.${list} names ${one}, but there is no such skill`, hint);
      }),
  );
}

async function checkMenus(
  { channels, definitions }: FactsFor<'settings' | 'config'>,
  commandsFor: ReturnType<typeof createSkillCommands>,
): Promise<readonly CheckFinding[]> {
  const commands = [...COMMANDS, ...(await commandsFor('others'))];
  const served = Object.values(channels).flatMap((one) => (one.kind === 'ok' ? [one.channel] : []));
  return [...new Set(served)].flatMap((channel) => {
    const menu = definitions.find(({ id }) => id === channel)?.menu;
    const text =
      menu === undefined ? null : describeOmittedCommands(channel, fitMenu(commands, menu).leftOut);
    const advice =
      'Turn off skills that you do not use (skills.block), or set "user-invocable: no" for more of them.';
    return text === null ? [] : [warning(text, advice)];
  });
}
