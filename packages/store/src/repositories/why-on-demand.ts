import type { Database } from '../database.ts';
import type { WhyRepository } from '../why.ts';

/** Loads what answers with the first question: few installations ever ask. */
export function whyOnDemand(database: Database): WhyRepository {
  return {
    async ask(question, now) {
      const { whyRepository } = await import('./why-repository.ts');
      return whyRepository(database).ask(question, now);
    },
    async recent(limit) {
      const { whyRepository } = await import('./why-repository.ts');
      return whyRepository(database).recent(limit);
    },
  };
}
