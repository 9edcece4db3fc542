import { type Logger, reasonOf } from '@parley/contracts';
import type { ContextSource, TurnAtHand } from '@parley/prompt';
import { restrictView } from '@parley/workspace';

type Gathered = Awaited<ReturnType<ContextSource['gather']>>;

/**
 * What all features have to say in a turn; each sees the files that it declares. Where two fill in the
 * same field, the later one wins; what people called by commands is put together. One that throws is left
 * out and logged: the person still gets an answer.
 */
export async function gatherFeatures(
  sources: readonly ContextSource[],
  turn: TurnAtHand,
  log: Logger,
): Promise<Gathered> {
  const gathered = await Promise.all(
    sources.map(async (source): Promise<Gathered> => {
      try {
        return await source.gather({ ...turn, view: restrictView(turn.view, source, log) });
      } catch (error) {
        log.error(
          { source: source.id, reason: reasonOf(error) },
          'a source of the prompt failed and was left out',
        );
        return {};
      }
    }),
  );
  const calledSkills = gathered.flatMap((features) => features.calledSkills ?? []);
  return Object.assign({}, ...gathered, calledSkills.length > 0 ? { calledSkills } : {});
}
