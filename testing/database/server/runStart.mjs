import { offerServer } from './offerServer.ts';

let offered;

/** Before the first file of a run, in jest's own process. */
export default async function runStart() {
  offered = await offerServer(process.env.DATABASE_URL);
  process.env.TEST_DATABASE_OFFER = offered.url;
}

export async function closeOffered() {
  await offered?.close();
}
