import type { Clock } from '@parley/contracts';
import type { SoulRepository, SoulVersion } from '@parley/store';
import type { SoulGuard } from './soul-guard.ts';
import { refused, type SoulAnswer } from './soul-proposals.ts';
import type { SoulSettings } from './soul-settings.ts';
import { soulDiff } from './soul-text.ts';

/** What carrying out an owner’s order needs. */
interface SoulOrderDeps {
  readonly agent: string;
  readonly souls: SoulRepository;
  readonly guard: SoulGuard;
  readonly settings: SoulSettings;
  readonly clock: Clock;
}

const IN_BETWEEN = 'Something else came in between; please look again.';

/** Puts a version that has passed into use now. */
export async function applySoul(
  deps: SoulOrderDeps,
  number: number,
  by: string,
): Promise<SoulAnswer> {
  const { agent, souls, guard, settings, clock } = deps;
  const version = await souls.get(agent, number);
  const inUse = await souls.applied(agent);
  const against = refusal(number, version, settings);
  if (against !== null) return refused(against);
  if (inUse === null || !(await souls.apply(agent, number, by, inUse.number, clock()))) {
    return refused(IN_BETWEEN);
  }
  await guard.look('at-once');
  return done(deps, number);
}

/** Ends a proposal for good. */
export async function vetoSoul(
  deps: SoulOrderDeps,
  number: number,
  by: string,
): Promise<SoulAnswer> {
  const { agent, souls, clock } = deps;
  const version = await souls.get(agent, number);
  if (version === null) return refused(`There is no version ${number}.`);
  if (version.state === 'vetoed') return done(deps, number);
  if (await souls.close(agent, number, 'vetoed', by, clock())) return done(deps, number);
  return refused(
    version.state === 'applied'
      ? `Version ${number} is in use already. \`/soul rollback ${version.basedOn ?? 0}\` goes back.`
      : `Version ${number} is not open any more.`,
  );
}

/** Puts the text of a version that was in use into use again, as a new version. */
export async function rollbackSoul(
  { agent, souls, guard, clock }: SoulOrderDeps,
  number: number,
  { by, askedBy }: { readonly by: string; readonly askedBy: string },
): Promise<SoulAnswer> {
  const inUse = await souls.applied(agent);
  const to = await souls.get(agent, number);
  if (inUse === null || to === null) return refused(`There is no version ${number}.`);
  if (to.appliedAt === null) {
    return refused(`Version ${number} was never in use, so there is no way back to it.`);
  }
  // Told twice of the same order, it has happened.
  if (to.text === inUse.text && inUse.reason === reasonFor(number)) {
    return { kind: 'done', version: inUse };
  }
  if (to.text === inUse.text)
    return refused(`Version ${inUse.number}, in use now, says just that.`);
  const order = {
    to: number,
    askedBy,
    by,
    reason: reasonFor(number),
    basedOn: inUse.number,
    diff: soulDiff(inUse.text, to.text),
  };
  const version = await souls.rollback(agent, order, clock());
  if (version === null) return refused(IN_BETWEEN);
  await guard.look('at-once');
  return { kind: 'done', version };
}

function reasonFor(number: number): string {
  return `back to version ${number}`;
}

function refusal(
  number: number,
  version: SoulVersion | null,
  { apply }: SoulSettings,
): string | null {
  if (version === null) return `There is no version ${number}.`;
  if (apply === 'never') return 'SOUL.md stays as it is: soul.apply is "never" in the settings.';
  switch (version.state) {
    case 'passed':
      return null;
    case 'proposed':
      return `Version ${number} is still being evaluated.`;
    case 'refused':
      return `Version ${number} did not pass the evaluation.`;
    case 'applied':
      return `Version ${number} is in use already.`;
    case 'vetoed':
      return `Version ${number} was vetoed.`;
    case 'replaced':
      return version.appliedAt === null
        ? `Version ${number} was overtaken by another one; propose it again.`
        : `Version ${number} was in use before: \`/soul rollback ${number}\`.`;
  }
}

async function done(
  { agent, souls }: Pick<SoulOrderDeps, 'agent' | 'souls'>,
  number: number,
): Promise<SoulAnswer> {
  const version = await souls.get(agent, number);
  return version === null ? refused(`There is no version ${number}.`) : { kind: 'done', version };
}
