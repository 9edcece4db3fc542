/** Requests that wait for their answers at a time, of all clients: each looks into the database now and then. */
const MAX_WAITING = 500;
/** Of these only clients of owners may take the last ones. */
const FOR_OWNERS = 50;
/** What a client has at least, however many clients there are. */
const MIN_PER_CLIENT = 10;

/** Who takes a place. */
interface PlaceTaker {
  readonly name: string;
  readonly owner: boolean;
}

/** Why there is no place: the client has taken all of its own, or all clients together have. */
export type NoPlace =
  | { readonly kind: 'client'; readonly places: number }
  | { readonly kind: 'all' };

/**
 * The places of requests that wait. Each client has an equal share, so that none can take the places of the
 * others; an owner's client may take one of those kept for owners as well.
 */
export function createPlaces(clients: number) {
  const share = Math.max(MIN_PER_CLIENT, Math.floor((MAX_WAITING - FOR_OWNERS) / clients));
  const taken = new Map<string, number>();
  let all = 0;
  return {
    /** Takes a place until the returned function is called, or says why there is none. */
    take({ name, owner }: PlaceTaker): (() => void) | NoPlace {
      const own = taken.get(name) ?? 0;
      const places = share + (owner ? FOR_OWNERS : 0);
      if (own >= places) return { kind: 'client', places };
      if (all >= MAX_WAITING - (owner ? 0 : FOR_OWNERS)) return { kind: 'all' };
      all += 1;
      taken.set(name, own + 1);
      let isFree = false;
      return () => {
        if (isFree) return;
        isFree = true;
        all -= 1;
        taken.set(name, (taken.get(name) ?? 1) - 1);
      };
    },
  };
}
