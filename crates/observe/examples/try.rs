fn main(){
 let t=std::time::Instant::now();
 let s=hotset_observe::Session::start(hotset_observe::Options::new(hotset_observe::Scope::Children));
 eprintln!("start {:?}", t.elapsed());
 let mut s=match s{Ok(s)=>s,Err(e)=>{eprintln!("{e}");std::fs::write("/tmp/words",hotset_observe::loader_words()).unwrap();std::process::exit(1)}};
 let a:Vec<String>=std::env::args().skip(1).collect();
 let mut c=s.following_children(||std::process::Command::new(&a[0]).args(&a[1..]).spawn()).unwrap().unwrap();
 loop{ if c.try_wait().unwrap().is_some(){break} s.drain().unwrap(); std::thread::sleep(std::time::Duration::from_millis(10)); }
 let t=std::time::Instant::now();
 let o=s.finish().unwrap();
 eprintln!("finish {:?}", t.elapsed());
 for f in o.files.iter().take(12){ eprintln!("{:?} {} opens={:?} before={:?} after={:?} size={:?}\n   read={:?}\n   write={:?}\n   mmap={:?} dev={:?} ra={:?} direct={:?} time={:?}",f.path.as_value(),f.id,f.opens.value(),f.cached_before.value(),f.cached_after.value(),f.size_bytes.value(),f.io.read.value(),f.io.write.value().filter(|w|w.calls+w.dirtied_pages>0),f.io.mmap,f.io.device,f.io.readahead.value(),f.io.direct.value().filter(|d|d.time_ns>0),f.io.time.value()); }
 for p in &o.processes{ eprintln!("{} {} {:?} {:?} {:?} min={:?}",p.pid,p.comm,p.argv,p.exit,p.lookups.value(),p.minor_faults.value()); }
 let l=o.lookups.value().unwrap(); eprintln!("{:?} {:?} unnamed {}", l.counters, &l.failed_paths[..l.failed_paths.len().min(6)], l.failed_unnamed);
 eprintln!("{:?}",o.sensor);std::fs::write("/tmp/words",hotset_observe::loader_words()).unwrap();
}
