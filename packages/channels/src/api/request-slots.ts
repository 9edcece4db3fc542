/**
 * How many requests of all clients may wait for their answers at the same time; each waiting
 * request polls the database.
 */
const MAX_WAITING = 500;
/** Slots reserved for owners' clients. */
const FOR_OWNERS = 50;
/** The minimum number of slots per client, however many clients there are. */
const MIN_PER_CLIENT = 10;

interface SlotClient {
  readonly name: string;
  readonly owner: boolean;
}

/** Why no slot is available: the client has used up its share, or all slots are taken. */
export type SlotRefusal =
  | { readonly kind: 'client'; readonly slots: number }
  | { readonly kind: 'all' };

/**
 * Slots for waiting requests. Each client has an equal share, so no client can starve the others;
 * an owner's client may also take a reserved slot.
 */
export function createRequestSlots(clients: number) {
  const share = Math.max(MIN_PER_CLIENT, Math.floor((MAX_WAITING - FOR_OWNERS) / clients));
  const taken = new Map<string, number>();
  let all = 0;
  return {
    /**
     * Takes a slot until the returned function is called, or returns the reason when none is
     * available.
     */
    take({ name, owner }: SlotClient): (() => void) | SlotRefusal {
      const own = taken.get(name) ?? 0;
      const slots = share + (owner ? FOR_OWNERS : 0);
      if (own >= slots) return { kind: 'client', slots };
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
