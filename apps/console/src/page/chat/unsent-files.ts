/** The files of messages that the gateway has not confirmed; they survive a reload. Never rejects. */
export interface FileStore {
  keep(id: string, files: readonly File[]): void;
  /** The files of a message; empty if they are no longer in the browser. */
  of(id: string): Promise<readonly File[]>;
  remove(id: string): void;
}

const STORE = 'unsent';

/** Keeps files in memory for this visit, and in IndexedDB if the browser allows it. */
export function createFileStore(): FileStore {
  const known = new Map<string, readonly File[]>();
  const change = async (write: (files: IDBObjectStore) => void): Promise<void> => {
    const database = await openDatabase().catch(() => null);
    if (database === null) return;
    const writing = database.transaction(STORE, 'readwrite');
    writing.oncomplete = () => database.close();
    writing.onabort = () => database.close();
    write(writing.objectStore(STORE));
  };
  return {
    keep(id, files) {
      known.set(id, files);
      void change((store) => store.put(files, id));
    },
    async of(id) {
      const files = known.get(id) ?? (await readFiles(id).catch(() => []));
      known.set(id, files);
      return files;
    },
    remove(id) {
      if (known.delete(id)) void change((store) => store.delete(id));
    },
  };
}

function openDatabase(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open('parley', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
}

async function readFiles(id: string): Promise<readonly File[]> {
  const database = await openDatabase();
  try {
    return await new Promise<readonly File[]>((resolve, reject) => {
      const reading = database.transaction(STORE).objectStore(STORE).get(id);
      reading.onsuccess = () => resolve(reading.result ?? []);
      reading.onerror = () => reject(reading.error);
    });
  } finally {
    database.close();
  }
}
